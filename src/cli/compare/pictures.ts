import { changeOf } from '../../compaction/plan/strategy.ts';
import type { CostReplay } from '../../lab/cost-replay.ts';
import type { LabCase } from '../../lab/lab-case.ts';
import { labRows } from '../../lab/lab-rows.ts';
import { budgetFor } from '../../lab/trajectory.ts';
import type { RoundLimits } from '../../report/charts/rounds-chart.ts';
import { accountForCompaction, type CompactionAccount } from '../../report/compaction-account.ts';
import { type MarkedCompaction, type RoundSeries, roundSeries } from '../../report/round-series.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { thresholdsFor } from '../../tokens/thresholds.ts';
import type { Recording } from '../../transcripts/recordings.ts';
import { compactsWhen, middleBudget, type ReplayedRecording } from './costs.ts';
import type { CompareSettings } from './settings.ts';

/** The tokens of a conversation, round by round. Plain data. */
export interface Picture {
  readonly series: readonly RoundSeries[];
  readonly limits: RoundLimits | undefined;
}

/** The recorded conversation, and beside it a replay of it with compactions, where there is one. */
export function pictureOf(
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
export async function exampleOf(
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
