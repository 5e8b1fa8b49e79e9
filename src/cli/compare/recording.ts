import { defaultSummarizer } from '../../compaction/default-summarizer.ts';
import { priceSetOf } from '../../compaction/economics/price-set.ts';
import { changeOf } from '../../compaction/plan/strategy.ts';
import { createStrategy } from '../../compaction/strategies/registry.ts';
import { type CostPolicy, type CostReplay, type ReplayOptions, replayCosts } from '../../lab/cost-replay.ts';
import { type CostSession, costSessionsOf } from '../../lab/cost-session.ts';
import { type LabCase, labCasesOf, probeCase } from '../../lab/lab-case.ts';
import { labRows } from '../../lab/lab-rows.ts';
import { type Loss, lossesOf } from '../../lab/losses.ts';
import type { Measured, Measurement } from '../../lab/measure.ts';
import { harnessOfRow, measureCase } from '../../lab/measure-case.ts';
import type { ProbeSession } from '../../lab/probe-session.ts';
import { budgetFor, cutsOf } from '../../lab/trajectory.ts';
import { accountForCompaction, type CompactionAccount } from '../../report/compaction-account.ts';
import type { RoundLimits } from '../../report/html/rounds.ts';
import { type MarkedCompaction, type RoundSeries, roundSeries } from '../../report/round-series.ts';
import { contextWindowForModel, findModel } from '../../tokens/catalog.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/token-estimator.ts';
import { tokenProfileForModel } from '../../tokens/token-profiles.ts';
import type { Recording } from '../../transcripts/recordings.ts';

/** What is compared, and how. Plain data: it goes to the threads. */
export interface CompareSettings {
  readonly strategies: readonly string[];
  /** Percent of the tokens that may be left, largest first. */
  readonly budgets: readonly number[];
  /** Cuts of each stretch of a session. */
  readonly cuts: number;
  /** Undefined: what each file says. */
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

/** What a conversation would have cost, in USD. Plain data. */
export interface SessionCost {
  readonly model: string;
  readonly windowTokens: number;
  /** Without any compaction. */
  readonly none: number;
  /** Whether it fits the window then. */
  readonly noneFits: boolean;
  readonly rows: readonly RowCost[];
}

export interface RowCost {
  readonly row: string;
  /** Percent of the messages' tokens that a compaction leaves. */
  readonly budget: number;
  readonly cost: number;
  readonly compactions: number;
  /** Whether every request fits the window. */
  readonly fits: boolean;
}

/** The costs of a conversation, and the replay that a chart shows. */
export interface ReplayedRecording {
  readonly cost: SessionCost;
  /** The first strategy at the budget in the middle, a replay for each stretch. */
  readonly shown: readonly CostReplay[];
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

/** Replays a conversation without compaction and with each strategy; undefined when nobody knows its prices. */
async function replayRecording(
  recording: Recording,
  context: {
    readonly model: string | undefined;
    readonly settings: CompareSettings;
    readonly estimator: TokenEstimator;
  },
): Promise<ReplayedRecording | undefined> {
  const { model, settings, estimator } = context;
  const info = model === undefined ? undefined : findModel(model);
  const prices = info === undefined ? undefined : priceSetOf(info);
  if (model === undefined || prices === undefined) return undefined;
  const windowTokens = info?.maxInputTokens ?? contextWindowForModel(model);
  const options = { prices, windowTokens, estimator };
  const stretches = costSessionsOf(recording, { estimator });
  const none = await replayAll(stretches, undefined, options);
  const rows: RowCost[] = [];
  let shown: readonly CostReplay[] = [];
  for (const row of settings.strategies) {
    for (const budget of settings.budgets) {
      const replays = await replayAll(stretches, policyOf(row, budget, context), options);
      if (row === settings.strategies[0] && budget === middleBudget(settings)) shown = replays;
      rows.push({ row, budget, ...totalOf(replays) });
    }
  }
  const { cost, fits: noneFits } = totalOf(none);
  return { cost: { model, windowTokens, none: cost, noneFits, rows }, shown };
}

function policyOf(
  row: string,
  budget: number,
  { model, estimator }: { readonly model: string | undefined; readonly estimator: TokenEstimator },
): CostPolicy {
  const bindsReasoning = (model === undefined ? undefined : findModel(model)?.bindsReasoning) === true;
  const planner = { strategy: createStrategy(row), summarizer: defaultSummarizer, estimator, bindsReasoning };
  return { planner, when: row === ASKS_FIRST ? 'advice' : 'trigger', targetShare: budget / 100 };
}

async function replayAll(
  stretches: readonly CostSession[],
  policy: CostPolicy | undefined,
  options: ReplayOptions,
): Promise<readonly CostReplay[]> {
  const replays: CostReplay[] = [];
  for (const stretch of stretches) replays.push(await replayCosts(stretch, policy, options));
  return replays;
}

function totalOf(replays: readonly CostReplay[]) {
  return {
    cost: replays.reduce((sum, { cost }) => sum + cost, 0),
    compactions: replays.reduce((sum, { compactions }) => sum + compactions.length, 0),
    fits: replays.every(({ overflows }) => overflows === 0),
  };
}

/** The tokens of a conversation, round by round. Plain data. */
export interface Picture {
  readonly series: readonly RoundSeries[];
  readonly limits: RoundLimits | undefined;
}

/** The recorded conversation, and beside it a replay of it with compactions, where there is one. */
function pictureOf(
  { transcript, conversations }: Recording,
  replayed: ReplayedRecording | undefined,
  estimator: TokenEstimator,
): Picture | undefined {
  if (transcript.kind !== 'main') return undefined;
  const stretches = conversations.map((conversation, index) => ({
    conversation,
    opening: transcript.segments[index]?.opening,
  }));
  const recorded = roundSeries('recorded', stretches, estimator);
  if (replayed === undefined) return { series: [recorded], limits: undefined };
  const [first] = replayed.cost.rows;
  const isCompacted = replayed.shown.some(({ compactions }) => compactions.length > 0);
  const row = first?.row ?? '';
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

/** A compaction with its account. Plain data. */
export interface Example {
  readonly session: string;
  /** Tokens before: of several examples the largest is shown. */
  readonly tokens: number;
  readonly account: CompactionAccount;
}

/** What the first strategy does to the longest prefix at the budget in the middle. */
async function exampleOf(
  cases: readonly LabCase[],
  settings: CompareSettings,
  estimator: TokenEstimator,
): Promise<Example | undefined> {
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
  return { session: cut.session, tokens: Math.round(cut.prefixTokens), account };
}
