import { priceSetOf } from '../../compaction/economics/costs.ts';
import { defaultSummarizer } from '../../compaction/options.ts';
import { createStrategy } from '../../compaction/strategies/registry.ts';
import { type CostPolicy, type CostReplay, type ReplayOptions, replayCosts } from '../../lab/cost-replay.ts';
import { type CostSession, costSessionsOf } from '../../lab/cost-session.ts';
import { contextWindowForModel, findModel } from '../../tokens/catalog.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import type { CompareSettings } from './settings.ts';

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
export function middleBudget({ budgets }: CompareSettings): number {
  return budgets[Math.floor(budgets.length / 2)] ?? 30;
}

/** The default asks whether a compaction pays; the others run whenever the window is full enough, as agents do it. */
const ASKS_FIRST = 'ladder';

/** When the replay of a strategy compacts, in words. */
export function compactsWhen(row: string): string {
  return row === ASKS_FIRST ? 'when it pays' : 'when the window is full';
}

/** Replays a conversation without compaction and with each strategy; undefined when nobody knows its prices. */
export async function replayRecording(
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
