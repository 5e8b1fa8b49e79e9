import { beforeAll, describe, expect, it } from 'vitest';
import { corpusFiles, corpusIsMissing } from '../../../test/support/corpus.ts';
import {
  type CostPlan,
  type CostTurn,
  clearResults,
  foldMiddle,
  followAdvice,
  rewriteSizes,
  tokensOf,
} from '../../../test/support/cost-sessions.ts';
import { readCostSessions } from '../../../test/support/recorded-costs.ts';
import { findModel } from '../../tokens/catalog.ts';
import { promptLimitTokens } from '../../tokens/thresholds.ts';
import { growthPerTurn } from './advice.ts';
import { costOf, isCacheExpired, type PriceSet, priceSetOf, quoteRewrite } from './costs.ts';
import { createPromptCache } from './prompt-cache.ts';

const isMissing = corpusFiles().length === 0;

const cases = ['claude-opus-5-5', 'claude-sonnet-5-5', 'gpt-6.1-sol'].flatMap((model) =>
  [60_000, 200_000].map((windowTokens) => ({ model, windowTokens })),
);
const plans: readonly CostPlan[] = [
  clearResults(15_000),
  foldMiddle({ keepFirst: 2, tailTokens: 15_000, share: 0.15 }),
];

describe.skipIf(isMissing)(`recorded sessions${isMissing ? ` (skipped: ${corpusIsMissing})` : ''}`, () => {
  let sessions: readonly (readonly CostTurn[])[] = [];
  beforeAll(async () => {
    sessions = await readCostSessions();
  });

  it('are enough to prove something', () => {
    expect(sessions.length).toBeGreaterThan(20);
  });

  it.each(cases)(
    'cost $model at $windowTokens never more than none, and less in all',
    ({ model, windowTokens }) => {
      const prices = pricesOf(model);
      let followedCost = 0;
      let noneCost = 0;
      for (const turns of sessions) {
        const none = followAdvice(turns, { prices, windowTokens: 0, plan: undefined });
        if (none.largestPrompt > promptLimitTokens(windowTokens)) continue;
        const noneTotal = none.costs.at(-1) ?? 0;
        for (const plan of plans) {
          const total = followAdvice(turns, { prices, windowTokens, plan }).costs.at(-1) ?? 0;

          expect(total).toBeLessThanOrEqual(noneTotal * (1 + 1e-9));
          followedCost += total;
          noneCost += noneTotal;
        }
      }

      expect(noneCost).toBeGreaterThan(0);
      // Sessions that fit a small window have little to remove.
      if (windowTokens >= 200_000) expect(followedCost).toBeLessThan(noneCost * 0.95);
    },
  );

  it.each([...new Set(cases.map(({ model }) => model))])(
    'break even for %s where the quote says, within a tenth of what they cost until then',
    (model) => {
      const found = sessions.flatMap((turns) => breakEvenErrors(turns, pricesOf(model)));
      const steady = found.filter(({ hasPause }) => !hasPause).map(({ error }) => error);
      const errors = found.map(({ error }) => error);

      expect(steady.length).toBeGreaterThan(50);
      expect(Math.max(...steady)).toBeLessThan(0.1);
      expect(Math.min(...steady)).toBeGreaterThan(-0.1);
      // Nobody can foretell pauses, but they only make it pay sooner.
      expect(Math.max(...errors)).toBeLessThan(0.1);
    },
  );
});

function pricesOf(model: string): PriceSet {
  const prices = priceSetOf(findModel(model) ?? {});
  if (prices === undefined) throw new Error(`no prices for ${model}`);
  return prices;
}

interface BreakEvenError {
  /** What the compacted session cost more up to the quoted break-even, as a share of the other one. */
  readonly error: number;
  /** Whether the cache expired on the way. */
  readonly hasPause: boolean;
}

/** Compacts a session once, at several places, and compares both ways after as many turns as the quote needs to pay. */
function breakEvenErrors(turns: readonly CostTurn[], prices: PriceSet): readonly BreakEvenError[] {
  return plans.flatMap((plan) =>
    [0.2, 0.35, 0.5, 0.65].flatMap((share) => {
      const at = Math.floor(turns.length * share);
      const turnsToPay = quotedBreakEven(turns, at, { prices, plan });
      const end = at + Math.ceil(turnsToPay);
      if (turnsToPay === 0 || end >= turns.length) return [];
      const keep = valueAt(costsFrom(turns, at, { prices, plan: undefined }), turnsToPay);
      const rewritten = valueAt(costsFrom(turns, at, { prices, plan }), turnsToPay);
      return [{ error: rewritten / keep - 1, hasPause: hasPause(turns.slice(at - 1, end + 1), prices) }];
    }),
  );
}

function hasPause(turns: readonly CostTurn[], prices: PriceSet): boolean {
  return turns.some(({ atSeconds }, index) => {
    const before = turns[index - 1]?.atSeconds ?? atSeconds;
    return isCacheExpired(prices, atSeconds - before);
  });
}

/** Between two turns, the share of the way. */
function valueAt(costs: readonly number[], turns: number): number {
  const [low = 0, high = low] = [costs[Math.floor(turns)], costs[Math.ceil(turns)]];
  return low + (high - low) * (turns % 1);
}

/** Turns until a compaction at a request has paid, as the quote before it says; 0 when there is nothing to do. */
function quotedBreakEven(
  turns: readonly CostTurn[],
  at: number,
  { prices, plan }: { prices: PriceSet; plan: CostPlan },
): number {
  const cache = createPromptCache(prices);
  const sizes: number[] = [];
  let segments: CostTurn['added'] = [];
  for (const { added, atSeconds } of turns.slice(0, at)) {
    segments = [...segments, ...added];
    sizes.push(tokensOf(segments));
    cache.send({ segments, atSeconds });
  }
  const { added = [], atSeconds = 0 } = turns[at] ?? {};
  segments = [...segments, ...added];
  const planned = plan(segments, at);
  if (planned === undefined) return 0;
  return quoteRewrite({
    prices,
    ...rewriteSizes(segments, planned),
    newTokens: tokensOf(added),
    reusableTokens: cache.cachedTokens({ segments: planned, atSeconds }),
    idleSeconds: atSeconds - (turns[at - 1]?.atSeconds ?? atSeconds),
    tokensPerTurn: growthPerTurn(sizes),
  }).breakEvenTurns;
}

/** What the requests from one on cost up to and with each, compacted before it or not at all. */
function costsFrom(
  turns: readonly CostTurn[],
  at: number,
  { prices, plan }: { prices: PriceSet; plan: CostPlan | undefined },
): readonly number[] {
  const cache = createPromptCache(prices);
  const costs: number[] = [];
  let segments: CostTurn['added'] = [];
  for (const [index, { added, atSeconds, outputTokens }] of turns.entries()) {
    segments = [...segments, ...added];
    if (index === at) segments = plan?.(segments, at) ?? segments;
    const cost = costOf(prices, cache.send({ segments, atSeconds, outputTokens }));
    if (index >= at) costs.push((costs.at(-1) ?? 0) + cost);
  }
  return costs;
}
