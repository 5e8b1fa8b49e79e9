import { priceSetOf } from '../../compaction/economics/costs.ts';
import { defaultSummarizer } from '../../compaction/options.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { createStrategy } from '../../compaction/strategies/registry.ts';
import { type CostPolicy, type CostReplay, replayCosts } from '../../lab/cost-replay.ts';
import { costSessionsOf } from '../../lab/cost-session.ts';
import { labRows } from '../../lab/lab-rows.ts';
import { type Loss, lossesOf } from '../../lab/losses.ts';
import {
  harnessOfRow,
  type LabCase,
  labCasesOf,
  type Measurement,
  measureCase,
  probeCase,
} from '../../lab/measure.ts';
import type { ProbeSession } from '../../lab/probes.ts';
import { budgetFor, cutsOf } from '../../lab/trajectory.ts';
import { accountForCompaction, type CompactionAccount } from '../../report/compaction-account.ts';
import type { ComparedSession } from '../../report/comparison.ts';
import { type MarkedCompaction, type RoundSeries, recordedSeries } from '../../report/round-series.ts';
import { contextWindowForModel, findModel } from '../../tokens/catalog.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import { tokenProfileForModel } from '../../tokens/profiles.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import type { Recording } from '../../transcripts/recordings.ts';

/** What is compared, and how. Plain data: it goes to the threads. */
export interface CompareSettings {
  readonly strategies: readonly string[];
  /** Percent of the tokens that may be left, largest first. */
  readonly budgets: readonly number[];
  /** Cuts of each stretch of a session. */
  readonly cuts: number;
  /** Undefined: the model that each file names. */
  readonly model: string | undefined;
  readonly format: string | undefined;
  readonly reader: string | undefined;
  /** Whether charts are wanted: curves of tokens and an example of a receipt. */
  readonly wantsPage: boolean;
}

/** What one cut gave. */
export interface CaseResult {
  /** Its number in the recording, whatever part of the work it was. */
  readonly number: number;
  readonly measurements: readonly Measurement[];
  readonly losses: readonly RowLosses[];
}

/** What a row lost at one cut: the soonest needed. */
export interface RowLosses {
  readonly row: string;
  readonly level: string;
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
  /** Its tokens, round by round. */
  readonly picture: Omit<ComparedSession, 'name'> | undefined;
  /** A compaction, and the tokens before it: of several examples the largest is shown. */
  readonly example: { readonly tokens: number; readonly account: CompactionAccount } | undefined;
}

/** How a conversation is to be compared; `onProgress` gets the share of the work that is done. */
interface Work {
  readonly settings: CompareSettings;
  readonly onProgress: (share: number) => void;
}

/** What came of one cut that somebody has chosen, with the questions that a successor would ask. */
export async function compareProbes(session: ProbeSession, work: Work): Promise<RecordingResult> {
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
export async function compareRecording(
  recording: Recording,
  work: Work & { readonly session: string; readonly part: number; readonly parts: number },
): Promise<RecordingResult> {
  const { session, part, parts, settings } = work;
  const model = settings.model ?? recording.transcript.model ?? recording.conversations.at(-1)?.frame.model;
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(model) });
  const isWanted = (cut: number) => cut % parts === part;
  const { cuts } = settings;
  const cases = labCasesOf(recording, { session, cuts, estimator, isWanted });
  const results = await measureAll(cases, estimator, work);
  const isFirst = part === 0;
  const replayed = isFirst ? await replayRecording(recording, model, { settings, estimator }) : undefined;
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
  { settings: { strategies, budgets }, onProgress }: Work,
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
        .map(({ measurement: { row, level }, missed }) => ({
          row,
          level,
          first: lossesOf(labCase.cut, missed).slice(0, TOLD_LOSSES),
        })),
    });
    onProgress(results.length / cases.length);
  }
  return results;
}

/** How many losses of one row at one cut are kept. */
const TOLD_LOSSES = 5;

/** What a conversation would have cost, in USD. Plain data. */
export interface SessionCost {
  readonly model: string;
  readonly windowTokens: number;
  readonly withoutCompaction: ReplayCost;
  readonly rows: readonly (ReplayCost & { readonly row: string; readonly budget: number })[];
}

interface ReplayCost {
  readonly cost: number;
  /** Whether every request fits the window. */
  readonly fits: boolean;
}

/** The budget that pictures and examples are made at. */
function middleBudget({ budgets }: CompareSettings): number {
  return budgets[Math.floor(budgets.length / 2)] ?? 30;
}

/** The default asks whether a compaction pays; the others run whenever the window is full enough, as agents do it. */
const ASKS_FIRST = 'ladder';

/** When the replay of a strategy compacts, in words. */
export function compactsWhen(row: string): string {
  return row === ASKS_FIRST ? 'when it pays' : 'when the window is full';
}

/**
 * Replays a conversation without compaction and with each strategy; undefined when nobody knows its prices.
 * @returns its costs, and the replays that a chart shows: the first strategy at the budget in the middle
 */
async function replayRecording(
  recording: Recording,
  model: string | undefined,
  { settings, estimator }: { readonly settings: CompareSettings; readonly estimator: TokenEstimator },
) {
  const info = model === undefined ? undefined : findModel(model);
  const prices = info === undefined ? undefined : priceSetOf(info);
  if (model === undefined || prices === undefined) return undefined;
  const windowTokens = info?.maxInputTokens ?? contextWindowForModel(model);
  const stretches = costSessionsOf(recording, { estimator });
  const replay = async (policy?: CostPolicy): Promise<readonly CostReplay[]> => {
    const replays: CostReplay[] = [];
    for (const stretch of stretches)
      replays.push(await replayCosts(stretch, policy, { prices, windowTokens, estimator }));
    return replays;
  };
  const bindsReasoning = info?.bindsReasoning === true;
  const withoutCompaction = totalOf(await replay());
  const rows: SessionCost['rows'][number][] = [];
  let shown: readonly CostReplay[] = [];
  for (const row of settings.strategies) {
    for (const budget of settings.budgets) {
      const strategy = createStrategy(row);
      const replays = await replay({
        planner: { strategy, summarizer: defaultSummarizer, estimator, bindsReasoning },
        when: row === ASKS_FIRST ? 'advice' : 'trigger',
        targetShare: budget / 100,
      });
      if (row === settings.strategies[0] && budget === middleBudget(settings)) shown = replays;
      rows.push({ row, budget, ...totalOf(replays) });
    }
  }
  const cost: SessionCost = { model, windowTokens, withoutCompaction, rows };
  return { cost, shown };
}

function totalOf(replays: readonly CostReplay[]): ReplayCost {
  return {
    cost: replays.reduce((sum, { cost }) => sum + cost, 0),
    fits: replays.every(({ overflows }) => overflows === 0),
  };
}

/** The recorded conversation, and beside it a replay of it with compactions, where there is one. */
function pictureOf(
  recording: Recording,
  replayed: Awaited<ReturnType<typeof replayRecording>>,
  estimator: TokenEstimator,
): RecordingResult['picture'] {
  if (recording.transcript.kind !== 'main') return undefined;
  const recorded = recordedSeries(recording, estimator);
  if (replayed === undefined) return { series: [recorded], limits: undefined };
  const isCompacted = replayed.shown.some(({ compactions }) => compactions.length > 0);
  const row = replayed.cost.rows[0]?.row ?? '';
  const replay = seriesOfReplays(`${row}, compacting ${compactsWhen(row)}`, replayed.shown);
  return {
    series: isCompacted ? [recorded, replay] : [recorded],
    limits: thresholdsFor(replayed.cost.windowTokens),
  };
}

function seriesOfReplays(name: string, replays: readonly CostReplay[]): RoundSeries {
  const stretches: (readonly number[])[] = [];
  const marks: MarkedCompaction[] = [];
  for (const { promptTokens, compactions } of replays) {
    const last = stretches.at(-1)?.at(-1);
    if (last !== undefined)
      marks.push({ tokensBefore: last, tokensAfter: promptTokens[0] ?? 0, trigger: undefined });
    let from = 0;
    for (const { turn, tokensBefore, tokensAfter, reason } of compactions) {
      stretches.push(promptTokens.slice(from, turn));
      marks.push({ tokensBefore, tokensAfter, trigger: reason });
      from = turn;
    }
    stretches.push(promptTokens.slice(from));
  }
  return { name, stretches, compactions: marks };
}

/** What the first strategy does to the longest prefix at the budget in the middle. */
async function exampleOf(
  cases: readonly LabCase[],
  settings: CompareSettings,
  estimator: TokenEstimator,
): Promise<RecordingResult['example']> {
  const [longest] = cases.toSorted((left, right) => right.cut.prefixTokens - left.cut.prefixTokens);
  const [row] = labRows(settings.strategies.slice(0, 1), [], estimator);
  if (longest === undefined) return undefined;
  const { cut } = longest;
  const targetTokens = Math.round(budgetFor(cut, middleBudget(settings) / 100));
  const outcome = await row?.attempt?.(cut, targetTokens);
  const change = outcome === undefined ? undefined : changeOf(outcome);
  if (outcome === undefined || change === undefined) return undefined;
  const { reason } = outcome;
  const account = accountForCompaction(cut.prefix, { ...change, reason }, { estimator, targetTokens });
  return { tokens: Math.round(cut.prefixTokens), account };
}
