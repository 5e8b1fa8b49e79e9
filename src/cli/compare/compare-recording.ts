import { type LabCase, labCasesOf, probeCase } from '../../lab/lab-case.ts';
import { labRows } from '../../lab/lab-rows.ts';
import { type Loss, lossesOf } from '../../lab/losses.ts';
import type { Measured, Measurement } from '../../lab/measure.ts';
import { harnessOfRow, measureCase } from '../../lab/measure-case.ts';
import type { ProbeSession } from '../../lab/probe-session.ts';
import { cutsOf } from '../../lab/trajectory.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import { replayRecording, type SessionCost } from './costs.ts';
import { type Example, exampleOf, type Picture, pictureOf } from './pictures.ts';
import type { CompareSettings } from './settings.ts';

/** What one cut gave. */
export interface CaseResult {
  /** Its number in the recording, whatever part of the work it was. */
  readonly number: number;
  readonly measurements: readonly Measurement[];
  readonly losses: readonly RowLosses[];
}

/** What a row lost at one cut. */
export interface RowLosses {
  readonly row: string;
  readonly level: string;
  readonly count: number;
  /** The soonest needed of them. */
  readonly first: readonly Loss[];
}

/** What came of one conversation. Plain data. */
export interface RecordingResult {
  readonly session: string;
  /** Places where it can be cut, in all parts of the work. */
  readonly cuts: number;
  /** Tokens of its longest stretch. */
  readonly tokens: number;
  readonly cases: readonly CaseResult[];
  /** Undefined in all parts of the work but the first, and without prices. */
  readonly cost: SessionCost | undefined;
  readonly picture: Picture | undefined;
  readonly example: Example | undefined;
}

export interface RecordingWork {
  readonly session: string;
  readonly part: number;
  readonly parts: number;
  readonly settings: CompareSettings;
  readonly onProgress: (share: number) => void;
}

/** What came of one cut that somebody has chosen, with the questions that a successor would ask. */
export async function compareProbes(
  session: ProbeSession,
  work: Pick<RecordingWork, 'settings' | 'onProgress'>,
): Promise<RecordingResult> {
  const { settings } = work;
  const { cut } = session;
  const estimator = createTokenEstimator({
    profile: tokenProfileForModel(settings.model ?? cut.prefix.frame.model),
  });
  const cases = [probeCase(session, estimator.countMessages)];
  return {
    session: cut.session,
    cuts: cases.length,
    tokens: Math.round(estimator.countMessages(cut.prefix.messages)),
    cases: await measureAll(cases, estimator, work),
    // A request is no session: nobody knows what came before, turn by turn.
    cost: undefined,
    picture: undefined,
    example: settings.wantsPage ? await exampleOf(cases, settings, estimator) : undefined,
  };
}

/** Compares everything on the cuts of one conversation that belong to this part of the work. */
export async function compareRecording(recording: Recording, work: RecordingWork): Promise<RecordingResult> {
  const { session, part, parts, settings } = work;
  const model = settings.model ?? recording.transcript.model ?? recording.conversations.at(-1)?.frame.model;
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const isWanted = (cut: number) => cut % parts === part;
  const { cuts } = settings;
  const cases = labCasesOf(recording, { session, cuts, estimator, isWanted });
  const results = await measureAll(cases, estimator, work);
  const isFirst = part === 0;
  const replayed = isFirst ? await replayRecording(recording, { model, settings, estimator }) : undefined;
  return {
    session,
    cuts: cutsOf(recording, { cuts, estimator }).length,
    tokens: Math.round(
      Math.max(0, ...recording.conversations.map(({ messages }) => estimator.countMessages(messages))),
    ),
    cases: results,
    cost: replayed?.cost,
    picture: isFirst && settings.wantsPage ? pictureOf(recording, replayed, estimator) : undefined,
    example: settings.wantsPage ? await exampleOf(cases, settings, estimator) : undefined,
  };
}

async function measureAll(
  cases: readonly LabCase[],
  estimator: TokenEstimator,
  { settings: { strategies, budgets }, onProgress }: Pick<RecordingWork, 'settings' | 'onProgress'>,
): Promise<readonly CaseResult[]> {
  const rows = labRows(strategies, cases, estimator);
  const options = { budgets, countMessages: estimator.countMessages };
  const results: CaseResult[] = [];
  for (const labCase of cases) {
    const measured = await measureCase(labCase, rows, options);
    results.push({
      number: labCase.number,
      measurements: measured.map(({ measurement }) => measurement),
      losses: measured
        .filter(({ measurement: { row } }) => strategies.includes(row) || harnessOfRow(row) !== undefined)
        .map(lossesOfRow),
    });
    onProgress(results.length / cases.length);
  }
  return results;
}

/** So many losses of one row at one cut are told; all are counted. */
const TOLD_LOSSES = 5;

function lossesOfRow({ measurement: { row, level }, labCase, missed }: Measured): RowLosses {
  const { probes, demands, names, editLines } = missed;
  const count = probes.length + demands.length + names.length + editLines.length;
  return { row, level, count, first: lossesOf(labCase.cut, missed).slice(0, TOLD_LOSSES) };
}
