/** Measures rows: each compacts the prefix of a cut within a budget, and the result is scored. */

import { changeOf } from '../compaction/plan/strategy.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { Figures } from './measures.ts';
import { commonNames, findNeeds, findValueNeeds } from './needs.ts';
import type { ProbeSession } from './probes.ts';
import type { Row } from './row.ts';
import { type CountMessages, type Exam, examOf, type Missed, type RowOutput, scoreOutput } from './score.ts';
import {
  budgetFor,
  type Cut,
  type CutOptions,
  cutsOf,
  type RecordedCut,
  recordedCutsOf,
} from './trajectory.ts';

/** One cut that rows are measured on, with what contexts are asked for there. */
export interface LabCase extends Exam {
  /** Number of the cut in its recording, from 0. */
  readonly number: number;
  /** Set where the harness itself compacted: the case belongs to the comparison with recorded summaries. */
  readonly recorded: RecordedCut | undefined;
}

export interface LabCaseOptions extends CutOptions {
  /** `names` (default): whatever looks like a name in later calls. `values`: whole arguments, for service dialogues. */
  readonly needs?: 'names' | 'values' | undefined;
  /** Cuts whose future needs fewer things of the prefix than this are left out: they measure nothing. Default 3. */
  readonly minimumNeeds?: number | undefined;
  /** Which of the cuts to look at, by number from 0: a part of the work. Default all. */
  readonly isWanted?: ((cut: number) => boolean) | undefined;
}

const MINIMUM_NEEDS = 3;

/** The cases of a recording: its cuts, and the places where its harness compacted, as far as their futures need enough. */
export function labCasesOf(recording: Recording, options: LabCaseOptions = {}): readonly LabCase[] {
  const { minimumNeeds = MINIMUM_NEEDS, isWanted = () => true } = options;
  const needsOf = (cut: Cut) =>
    options.needs === 'values' ? findValueNeeds(cut) : findNeeds(cut, commonNames);
  const cuts = [
    ...cutsOf(recording, options).map((cut) => ({ cut, recorded: undefined })),
    ...recordedCutsOf(recording, options).map((cut) => ({ cut, recorded: cut })),
  ];
  return cuts
    .map((found, number) => ({ ...found, number }))
    .filter(({ number }) => isWanted(number))
    .map((found) => ({ ...found, needs: needsOf(found.cut) }))
    .filter(({ needs }) => needs.names.length >= minimumNeeds)
    .map(({ cut, needs, number, recorded }) => ({ ...examOf(cut, needs), number, recorded }));
}

/** A session with probes as a case: it is cut where it ends. */
export function probeCase({ cut, probes }: ProbeSession, countMessages: CountMessages): LabCase {
  const labCase = { ...examOf(cut, findNeeds(cut, commonNames), probes), number: 0, recorded: undefined };
  return countedCase(labCase, countMessages);
}

/** The same case with its sizes counted in another way. */
export function countedCase(labCase: LabCase, countMessages: CountMessages): LabCase {
  const { messages } = labCase.cut.prefix;
  const instructions = messages.filter(({ role }) => role === 'system');
  const tokens = {
    prefixTokens: countMessages(messages),
    instructionTokens: countMessages(instructions),
  };
  return { ...labCase, cut: { ...labCase.cut, ...tokens } };
}

/** What one row made of one cut. Plain data, so that it can go between threads. */
export interface Measurement {
  readonly row: string;
  /** What budget was asked for, as it is called in results: `30 %`, `size of pi's own summary`. */
  readonly level: string;
  readonly session: string;
  readonly figures: Figures;
  readonly brokenRules: readonly string[];
  /** Whether more is left than was asked for. */
  readonly isOverBudget: boolean;
}

/** A measurement, and what it found missing. */
export interface Measured {
  readonly measurement: Measurement;
  readonly labCase: LabCase;
  readonly budgetTokens: number;
  readonly output: RowOutput;
  readonly missed: Missed;
}

/** A budget, and how its tokens are counted. */
export interface MeasureOptions {
  readonly level: string;
  readonly budgetTokens: number;
  readonly countMessages: CountMessages;
}

/** Lets a row compact the prefix of a case, and scores the output. */
export async function measureRow(row: Row, labCase: LabCase, options: MeasureOptions): Promise<Measured> {
  const output = await runRow(row, labCase, options.budgetTokens);
  return measureOutput(output, labCase, { ...options, row: row.name });
}

async function runRow(row: Row, { cut }: LabCase, budgetTokens: number): Promise<RowOutput> {
  const outcome = await row.attempt?.(cut, budgetTokens);
  if (outcome === undefined) return { messages: await row.compact(cut, budgetTokens) };
  const change = changeOf(outcome);
  return change === undefined
    ? { messages: cut.prefix.messages }
    : { messages: change.conversation.messages, receipt: change.receipt };
}

/** By what share a budget may be exceeded before that counts: estimates of parts do not add up exactly. */
const TOLERANCE = 1.02;

/** Scores an output that is there already. */
function measureOutput(
  output: RowOutput,
  labCase: LabCase,
  { row, level, budgetTokens, countMessages }: MeasureOptions & { readonly row: string },
): Measured {
  const { figures, missed } = scoreOutput(labCase, output, countMessages);
  const measurement = {
    row,
    level,
    session: labCase.cut.session,
    figures,
    brokenRules: missed.brokenRules,
    isOverBudget: countMessages(output.messages) > budgetTokens * TOLERANCE,
  };
  return { measurement, labCase, budgetTokens, output, missed };
}

export interface CaseOptions {
  /** Percent of the prefix's tokens. */
  readonly budgets: readonly number[];
  /** No budget is smaller than so many tokens: short dialogues have no use for a fraction of little. Default 0. */
  readonly leastTokens?: number | undefined;
  readonly countMessages: CountMessages;
}

/** How a budget is called in results. */
export function levelName(percent: number): string {
  return `${percent} %`;
}

const RECORDED_LEVEL = 'size of ';
const RECORDED_ROW = 'recorded by ';

/** How the budget is called that a harness's own summary had. */
function recordedLevelName(harness: string): string {
  return `${RECORDED_LEVEL}${harness}'s own summary`;
}

/** Whether a level has the name of such a budget. */
export function isRecordedLevel(level: string): boolean {
  return level.startsWith(RECORDED_LEVEL);
}

/** How the row of a harness's own summaries is called. */
function recordedRowName(harness: string): string {
  return `${RECORDED_ROW}${harness}`;
}

/** The harness whose summaries such a row is about; undefined for all other rows. */
export function harnessOfRow(row: string): string | undefined {
  return row.startsWith(RECORDED_ROW) ? row.slice(RECORDED_ROW.length) : undefined;
}

/** The row that does nothing. It is the same at every budget. */
export const NONE = 'none';

/**
 * Every row at every budget on one case. Where the harness itself compacted, its summary is a row more, and the budget of
 * all is the size of that.
 */
export async function measureCase(
  labCase: LabCase,
  rows: readonly Row[],
  options: CaseOptions,
): Promise<readonly Measured[]> {
  const { countMessages } = options;
  const measured: Measured[] = measureRecorded(labCase, countMessages);
  for (const row of rows) {
    for (const asked of levelsOf(row, labCase, options))
      measured.push(await measureRow(row, labCase, { ...asked, countMessages }));
  }
  return measured;
}

function measureRecorded(labCase: LabCase, countMessages: CountMessages): Measured[] {
  const { recorded } = labCase;
  if (recorded === undefined) return [];
  const options = {
    row: recordedRowName(recorded.harness),
    level: recordedLevelName(recorded.harness),
    budgetTokens: countMessages(recorded.recorded),
    countMessages,
  };
  return [measureOutput({ messages: recorded.recorded }, labCase, options)];
}

interface AskedLevel {
  readonly level: string;
  readonly budgetTokens: number;
}

function levelsOf(
  { name }: Row,
  { cut, recorded }: LabCase,
  { budgets, countMessages, leastTokens = 0 }: CaseOptions,
): readonly AskedLevel[] {
  if (recorded !== undefined) {
    const budgetTokens = countMessages(recorded.recorded);
    return [{ level: recordedLevelName(recorded.harness), budgetTokens }];
  }
  return (name === NONE ? [100] : budgets).map((percent) => askedLevel(cut, percent, leastTokens));
}

function askedLevel(cut: Cut, percent: number, leastTokens: number): AskedLevel {
  const budgetTokens = Math.max(cut.instructionTokens + leastTokens, budgetFor(cut, percent / 100));
  return { level: levelName(percent), budgetTokens };
}
