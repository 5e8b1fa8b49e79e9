import { growthPerTurn } from '../../src/compaction/economics/advice.ts';
import { costOf, isCacheExpired, type PriceSet, quoteRewrite } from '../../src/compaction/economics/costs.ts';
import { createPromptCache, type PromptSegment } from '../../src/compaction/economics/prompt-cache.ts';
import { changeOf } from '../../src/compaction/plan/strategy.ts';
import {
  type CostSession,
  type CostTurn,
  createPromptMaker,
  type Planner,
  planCompaction,
  rewriteSizes,
  tokensOf,
} from '../../src/lab/cost-session.ts';

/** A quoted break-even, and what became of it. */
export interface BreakEven {
  /** Turns until the compaction has paid, as quoted before it. */
  readonly quotedTurns: number;
  /** What the compacted session had cost more by then, as a share of the other one. 0 is a perfect quote. */
  readonly error: number;
  /** Whether the cache expired on the way, which nobody can foretell and which makes a compaction pay sooner. */
  readonly hasPause: boolean;
}

export interface BreakEvenOptions {
  readonly prices: PriceSet;
  readonly planner: Planner;
  /** Share of the messages' tokens that is to be left. */
  readonly targetShare: number;
}

/** Places of a session where it is compacted, as shares of its turns. */
const PLACES = [0.2, 0.35, 0.5, 0.65];

/**
 * Compacts a session once, at several places, and compares both ways after as many turns as the quote needs to pay.
 * Places from which the session does not go on so long tell nothing and are left out.
 */
export async function breakEvensOf(
  session: CostSession,
  options: BreakEvenOptions,
): Promise<readonly BreakEven[]> {
  const found: BreakEven[] = [];
  for (const place of PLACES) {
    const at = Math.floor(session.turns.length * place);
    const prompts = await bothWays(session, at, options);
    if (prompts === undefined) continue;
    const quotedTurns = quoteAt(session, at, prompts, options.prices);
    const end = at + Math.ceil(quotedTurns);
    if (quotedTurns === 0 || end >= session.turns.length) continue;
    const kept = valueAt(costsFrom(session.turns, prompts.kept, at, options.prices), quotedTurns);
    const rewritten = valueAt(costsFrom(session.turns, prompts.rewritten, at, options.prices), quotedTurns);
    const hasPause = hasExpiry(session.turns.slice(at - 1, end + 1), options.prices);
    found.push({ quotedTurns, error: rewritten / kept - 1, hasPause });
  }
  return found;
}

/** The prompts of a session, as it was and with one compaction. */
interface BothWays {
  readonly kept: readonly (readonly PromptSegment[])[];
  readonly rewritten: readonly (readonly PromptSegment[])[];
}

async function bothWays(
  session: CostSession,
  at: number,
  { planner, targetShare }: BreakEvenOptions,
): Promise<BothWays | undefined> {
  const maker = createPromptMaker(session, planner.estimator);
  const added = session.turns.map((turn) => turn.added);
  const before = added.slice(0, at + 1).flat();
  const budget = planner.estimator.countMessages(before) * targetShare;
  const outcome = await planCompaction(session, before, budget, planner);
  const change = changeOf(outcome);
  if (change === undefined) return undefined;
  const promptAt = (index: number) => maker.segmentsOf(added.slice(0, index + 1).flat());
  const rewrittenAt = (index: number) =>
    maker.segmentsOf([...change.conversation.messages, ...added.slice(at + 1, index + 1).flat()]);
  return {
    kept: session.turns.map((_, index) => promptAt(index)),
    rewritten: session.turns.map((_, index) => (index < at ? promptAt(index) : rewrittenAt(index))),
  };
}

function quoteAt(
  { turns }: CostSession,
  at: number,
  { kept, rewritten }: BothWays,
  prices: PriceSet,
): number {
  const cache = createPromptCache(prices);
  for (const [index, segments] of kept.slice(0, at).entries())
    cache.send({ segments, atSeconds: turns[index]?.atSeconds ?? 0 });
  const [now = [], after = [], last = []] = [kept[at], rewritten[at], kept[at - 1]];
  const atSeconds = turns[at]?.atSeconds ?? 0;
  return quoteRewrite({
    prices,
    ...rewriteSizes(now, after),
    newTokens: tokensOf(now) - tokensOf(last),
    reusableTokens: cache.cachedTokens({ segments: after, atSeconds }),
    idleSeconds: atSeconds - (turns[at - 1]?.atSeconds ?? atSeconds),
    tokensPerTurn: growthPerTurn(kept.slice(0, at).map(tokensOf)),
  }).breakEvenTurns;
}

/** What the requests from one on cost, up to and with each. */
function costsFrom(
  turns: readonly CostTurn[],
  prompts: readonly (readonly PromptSegment[])[],
  at: number,
  prices: PriceSet,
): readonly number[] {
  const cache = createPromptCache(prices);
  const costs: number[] = [];
  for (const [index, { atSeconds, outputTokens }] of turns.entries()) {
    const cost = costOf(prices, cache.send({ segments: prompts[index] ?? [], atSeconds, outputTokens }));
    if (index >= at) costs.push((costs.at(-1) ?? 0) + cost);
  }
  return costs;
}

/** Between two turns, the share of the way. */
function valueAt(costs: readonly number[], turns: number): number {
  const [low = 0, high = low] = [costs[Math.floor(turns)], costs[Math.ceil(turns)]];
  return low + (high - low) * (turns % 1);
}

function hasExpiry(turns: readonly CostTurn[], prices: PriceSet): boolean {
  return turns.some(({ atSeconds }, index) => {
    const before = turns[index - 1]?.atSeconds ?? atSeconds;
    return isCacheExpired(prices, atSeconds - before);
  });
}
