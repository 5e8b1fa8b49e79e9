import { type AdviceReason, adviseCompaction } from '../../src/compaction/economics/advice.ts';
import { costOf, type PriceSet } from '../../src/compaction/economics/costs.ts';
import { emptyLedger, settleTurn } from '../../src/compaction/economics/ledger.ts';
import { createPromptCache, type PromptSegment } from '../../src/compaction/economics/prompt-cache.ts';
import { promptLimitTokens } from '../../src/tokens/thresholds.ts';

/** What one request adds to a conversation, and when it is sent. */
export interface CostTurn {
  readonly added: readonly PromptSegment[];
  readonly atSeconds: number;
  readonly outputTokens: number;
  readonly isTaskBoundary: boolean;
}

/** What a compaction would make of a prompt; undefined when it has nothing to do. */
export type CostPlan = (
  segments: readonly PromptSegment[],
  turn: number,
) => readonly PromptSegment[] | undefined;

export interface FollowOptions {
  readonly prices: PriceSet;
  readonly windowTokens: number;
  /** Undefined: nothing is ever compacted. */
  readonly plan: CostPlan | undefined;
  readonly stakeShare?: number;
}

export interface Followed {
  /** Costs of all requests up to and with each, by the cache alone, not by the ledger. */
  readonly costs: readonly number[];
  readonly compactions: readonly { readonly turn: number; readonly reason: AdviceReason }[];
  readonly largestPrompt: number;
  /** What the ledger believes at the end. */
  readonly ledgerCost: number;
  readonly ledgerNoneCost: number;
}

/** Sends a session to a cache of its own and compacts when the advice says so. */
export function followAdvice(turns: readonly CostTurn[], options: FollowOptions): Followed {
  const { prices, windowTokens } = options;
  const cache = createPromptCache(prices);
  const limitTokens = promptLimitTokens(windowTokens);
  const costs: number[] = [];
  const compactions: Followed['compactions'][number][] = [];
  let segments: readonly PromptSegment[] = [];
  let ledger = emptyLedger;
  let lastSeconds = turns[0]?.atSeconds ?? 0;
  let largestPrompt = 0;
  for (const [turn, { added, atSeconds, outputTokens, isTaskBoundary }] of turns.entries()) {
    segments = [...segments, ...added];
    const idleSeconds = atSeconds - lastSeconds;
    const planned = options.plan?.(segments, turn);
    const reusableTokens = planned === undefined ? 0 : cache.cachedTokens({ segments: planned, atSeconds });
    const advice =
      planned === undefined
        ? undefined
        : adviseCompaction({
            prices,
            ...rewriteSizes(segments, planned),
            newTokens: tokensOf(added),
            reusableTokens,
            idleSeconds,
            tokensPerTurn: tokensOf(segments) / (turn + 1),
            turnsSoFar: turn,
            windowTokens,
            isTaskBoundary,
            ledger,
            stakeShare: options.stakeShare,
          });
    const isDue = planned !== undefined && advice?.verdict === 'compact-now';
    if (isDue) compactions.push({ turn, reason: advice.reason });
    const compaction = isDue ? { removedTokens: advice.quote.removedTokens, reusableTokens } : undefined;
    segments = isDue ? planned : segments;
    const promptTokens = tokensOf(segments);
    largestPrompt = Math.max(largestPrompt, promptTokens);
    const sent = { prices, promptTokens, idleSeconds, outputTokens, compaction };
    ledger = settleTurn(ledger, { ...sent, limitTokens });
    const cost = costOf(prices, cache.send({ segments, atSeconds, outputTokens }));
    costs.push((costs.at(-1) ?? 0) + cost);
    lastSeconds = atSeconds;
  }
  return {
    costs,
    compactions,
    largestPrompt,
    ledgerCost: ledger.actualCost,
    ledgerNoneCost: ledger.noneCost,
  };
}

/** The numbers of a plan: what stands before its first change, and what is behind it, before and after. */
export function rewriteSizes(
  segments: readonly PromptSegment[],
  planned: readonly PromptSegment[],
): { tokensBefore: number; tokensBehind: number; tokensBehindAfter: number } {
  const changed = segments.findIndex(({ id }, index) => id !== planned[index]?.id);
  const first = changed === -1 ? segments.length : changed;
  return {
    tokensBefore: tokensOf(segments.slice(0, first)),
    tokensBehind: tokensOf(segments.slice(first)),
    tokensBehindAfter: tokensOf(planned.slice(first)),
  };
}

export function tokensOf(segments: readonly PromptSegment[]): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Replaces everything between the first segments and the newest tokens by one segment of a share of its size. */
export function foldMiddle(options: { keepFirst: number; tailTokens: number; share: number }): CostPlan {
  return (segments, turn) => {
    const end = tailStart(segments, options.tailTokens);
    const middle = segments.slice(options.keepFirst, end);
    if (middle.length === 0) return undefined;
    const folded = { id: `fold ${turn}`, tokens: Math.ceil(tokensOf(middle) * options.share) };
    return [...segments.slice(0, options.keepFirst), folded, ...segments.slice(end)];
  };
}

/** Empties the tool results (`result …`) in front of the newest tokens. */
export function clearResults(tailTokens: number): CostPlan {
  return (segments) => {
    const end = tailStart(segments, tailTokens);
    const isOld = ({ id, tokens }: PromptSegment, index: number) =>
      index < end && id.startsWith('result') && tokens > 60;
    if (!segments.some(isOld)) return undefined;
    return segments.map((segment, index) =>
      isOld(segment, index) ? { id: `cleared ${segment.id}`, tokens: 25 } : segment,
    );
  };
}

function tailStart(segments: readonly PromptSegment[], tailTokens: number): number {
  let start = segments.length;
  for (let tail = 0; start > 0 && tail < tailTokens; ) tail += segments[--start]?.tokens ?? 0;
  return start;
}
