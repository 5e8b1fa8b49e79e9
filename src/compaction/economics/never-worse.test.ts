import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import {
  type CostPlan,
  type CostTurn,
  clearResults,
  type Followed,
  foldMiddle,
  followAdvice,
} from '../../../test/support/cost-sessions.ts';
import type { PriceSet } from './costs.ts';

const runs = { numRuns: Number(process.env['ROUNDFOLD_RUNS'] ?? 150) };

const share = fc.double({ min: 0.01, max: 1, noNaN: true });
const factor = fc.double({ min: 1, max: 3, noNaN: true });

/** Prices with a step above which nothing gets cheaper. */
const rates = fc
  .record({ input: factor, output: factor, read: share, write: fc.option(factor), step: fc.option(factor) })
  .chain(({ input, output, read, write, step }) => {
    const base = {
      input,
      output: input * output,
      cacheRead: input * read,
      cacheWrite: write === null ? undefined : input * write,
    };
    if (step === null) return fc.constant(base);
    return fc.integer({ min: 5000, max: 200_000 }).map((abovePromptTokens) => {
      const longContext = {
        abovePromptTokens,
        input: base.input * step,
        output: base.output,
        cacheRead: base.cacheRead,
        cacheWrite: base.cacheWrite === undefined ? undefined : base.cacheWrite * step,
      };
      return { ...base, longContext };
    });
  });

const priceSet: fc.Arbitrary<PriceSet> = fc.record({
  prices: rates,
  cache: fc.record({
    writes: fc.constantFrom('automatic' as const, 'at-breakpoints' as const),
    minimumPrefixTokens: fc.constantFrom(0, 512, 1024, 4096),
    ttlSeconds: fc.constantFrom([300], [1800], undefined),
    expiresWithinSeconds: fc.constantFrom(undefined, 3600),
    stepTokens: fc.constantFrom(1, 128),
    requestEndsMatched: fc.constantFrom(undefined, 3, 80),
  }),
});

const turnsOf = (idle: fc.Arbitrary<number>): fc.Arbitrary<readonly CostTurn[]> =>
  fc
    .array(
      fc.record({
        sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 30_000 })), {
          minLength: 1,
          maxLength: 3,
        }),
        idle,
        outputTokens: fc.nat(2000),
        isTaskBoundary: fc.boolean(),
      }),
      { minLength: 2, maxLength: 40 },
    )
    .map((turns) => {
      let atSeconds = 0;
      return turns.map(({ sizes, idle: idleSeconds, outputTokens, isTaskBoundary }, turn) => {
        atSeconds += idleSeconds;
        const added = sizes.map((tokens, index) => ({ id: `result ${turn}.${index}`, tokens }));
        return { added, atSeconds, outputTokens, isTaskBoundary };
      });
    });

const session = fc.oneof(
  turnsOf(fc.nat(200)),
  turnsOf(fc.oneof({ weight: 5, arbitrary: fc.nat(290) }, { weight: 1, arbitrary: fc.nat(5000) })),
);

const plan: fc.Arbitrary<CostPlan> = fc.oneof(
  fc
    .record({
      keepFirst: fc.nat(3),
      tailTokens: fc.nat(30_000),
      share: fc.double({ min: 0, max: 1.2, noNaN: true }),
    })
    .map(foldMiddle),
  fc.nat(30_000).map(clearResults),
);

/** By what share the costs up to any turn were above those of the other, at most. */
function largestExcess(followed: Followed, none: Followed): number {
  return Math.max(...followed.costs.map((cost, turn) => cost / (none.costs[turn] ?? 0) - 1));
}

describe('following the advice', () => {
  test.prop([priceSet, session, plan], runs)(
    'costs at no time more than no compaction, whatever the prices, the pauses and the plans',
    (prices, turns, tried) => {
      const none = followAdvice(turns, { prices, windowTokens: 0, plan: undefined });
      const followed = followAdvice(turns, { prices, windowTokens: 0, plan: tried });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
    },
  );

  test.prop([priceSet, session, plan, fc.integer({ min: 20_000, max: 200_000 })], runs)(
    'costs no more in a window that leaves the choice',
    (prices, turns, tried, windowTokens) => {
      const none = followAdvice(turns, { prices, windowTokens: 0, plan: undefined });
      fc.pre(none.largestPrompt <= windowTokens - Math.min(20_000, windowTokens / 10));
      const followed = followAdvice(turns, { prices, windowTokens, plan: tried });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(1e-9);
    },
  );

  test.prop([priceSet, session, plan, fc.double({ min: 0, max: 0.5, noNaN: true })], runs)(
    'never loses more than the stake',
    (prices, turns, tried, stakeShare) => {
      const none = followAdvice(turns, { prices, windowTokens: 0, plan: undefined });
      const followed = followAdvice(turns, { prices, windowTokens: 0, plan: tried, stakeShare });

      expect(largestExcess(followed, none)).toBeLessThanOrEqual(stakeShare + 1e-9);
    },
  );

  const steadyPrices = priceSet.filter(({ cache }) => cache?.expiresWithinSeconds === undefined);
  test.prop([steadyPrices, session, plan], runs)(
    'is what the ledger says it costs',
    (prices, turns, tried) => {
      const none = followAdvice(turns, { prices, windowTokens: 0, plan: undefined });
      const followed = followAdvice(turns, { prices, windowTokens: 0, plan: tried });

      expect(followed.ledgerCost).toBeCloseTo(followed.costs.at(-1) ?? 0, 9);
      expect(followed.ledgerNoneCost).toBeCloseTo(none.costs.at(-1) ?? 0, 9);
    },
  );
});
