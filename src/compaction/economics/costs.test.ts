import { describe, expect, it } from 'vitest';
import { findModel } from '../../tokens/catalog.ts';
import { expectedRemainingTurns, growthPerTurn } from './advice.ts';
import {
  isCacheExpired,
  type PriceSet,
  priceSetOf,
  quoteRewrite,
  type Rewrite,
  safeRemovalTokens,
} from './costs.ts';

function pricesOf(model: string): PriceSet {
  const prices = priceSetOf(findModel(model) ?? {});
  if (prices === undefined) throw new Error(`no prices for ${model}`);
  return prices;
}

/** 170,000 tokens become 20,000, warm, written into 3,000 tokens by the same model. */
function example(model: string, isSummaryCached: boolean): Rewrite {
  return {
    prices: pricesOf(model),
    tokensBefore: 0,
    tokensBehind: 170_000,
    tokensBehindAfter: 20_000,
    newTokens: 0,
    idleSeconds: 10,
    tokensPerTurn: 0,
    summaryCall: {
      promptTokens: 170_000,
      cachedTokens: isSummaryCached ? 170_000 : 0,
      outputTokens: 3000,
    },
  };
}

describe('the quote of a compaction', () => {
  it.each([
    { model: 'claude-opus-5', warm: 2.67, cold: 12.87 },
    { model: 'claude-opus-5-5', warm: 5.33, cold: 26.87 },
    { model: 'claude-fable-5-1', warm: 10.67, cold: 54.87 },
  ])('breaks even for $model after $warm turns with a cached summary call and $cold without', (row) => {
    const warm = quoteRewrite(example(row.model, true)).breakEvenTurns;
    const cold = quoteRewrite(example(row.model, false)).breakEvenTurns;

    expect([warm, cold]).toEqual([expect.closeTo(row.warm, 2), expect.closeTo(row.cold, 2)]);
  });

  it('pays at once when the cache has expired', () => {
    const quote = quoteRewrite({
      ...example('claude-opus-5-5', true),
      summaryCall: undefined,
      idleSeconds: 300,
    });

    expect(quote).toMatchObject({ isCacheExpired: true, breakEvenTurns: 0, removedTokens: 150_000 });
    expect(quote.extraCost).toBeCloseTo((-150_000 * 5) / 1e6, 9);
  });

  it('pays at once for what was never sent', () => {
    const rewrite = { ...example('claude-opus-5-5', true), summaryCall: undefined, tokensBefore: 50_000 };
    const quote = quoteRewrite({ ...rewrite, newTokens: 170_000, reusableTokens: 50_000 });

    expect(quote.breakEvenTurns).toBe(0);
  });

  it('counts on nothing being reusable unless it is told, where entries stand at certain places only', () => {
    const rewrite = { ...example('claude-opus-5-5', true), tokensBefore: 10_000 };
    const told = quoteRewrite({ ...rewrite, reusableTokens: 10_000 }).rewriteCost;

    expect(quoteRewrite(rewrite).rewriteCost - told).toBeCloseTo((10_000 * (5 - 0.2)) / 1e6, 9);
  });

  it('never pays when nothing goes, and says so without dividing by it', () => {
    const rewrite = { ...example('claude-opus-5-5', true), tokensBehindAfter: 170_000 };

    expect(quoteRewrite(rewrite)).toMatchObject({
      savedPerTurn: 0,
      breakEvenTurns: Number.POSITIVE_INFINITY,
    });
  });

  it('sees a price step coming', () => {
    const near = { ...example('gpt-6.1-sol', true), tokensBehind: 270_000, tokensPerTurn: 1500 };
    const far = { ...near, tokensPerTurn: 100 };

    expect(quoteRewrite(near).breakEvenTurns).toBeLessThan(quoteRewrite(far).breakEvenTurns * 0.8);
  });
});

describe('tokens that must go', () => {
  const rewrite = { ...example('claude-opus-5-5', true), tokensBehindAfter: 400 };

  it('are any number where the cache counts every token and has its minimum', () => {
    expect(safeRemovalTokens({ ...rewrite, tokensBehindAfter: 512 })).toBe(0);
  });

  it('pay for the lost cache below its minimum', () => {
    // 512 tokens written at 5 instead of read at 0.2, every turn, against reads of what went.
    expect(safeRemovalTokens(rewrite)).toBeCloseTo((512 * 4.8) / 0.2, 6);
  });

  it('pay for a step of the cache', () => {
    expect(
      safeRemovalTokens({ ...rewrite, prices: pricesOf('gpt-6.1-sol'), tokensBehindAfter: 2000 }),
    ).toBeCloseTo(128 * (1 + (2.5 + 2) / 0.1), 6);
  });
});

describe('price sets', () => {
  it('are rows of the catalog on a day', () => {
    const model = findModel('gemini-4-argon') ?? {};

    expect(priceSetOf(model)?.prices.input).toBe(2);
    expect(priceSetOf(model, '2026-12-01T08:00:00Z')?.prices.input).toBe(4);
    expect(priceSetOf({}, '2026-12-01')).toBeUndefined();
  });

  it.each([
    ['claude-opus-5-5', 299, false],
    ['claude-opus-5-5', 300, true],
    // Kept for 5 to 60 minutes: only then it is certain.
    ['gpt-5.5', 3599, false],
    ['gpt-5.5', 3600, true],
    ['gpt-6.1-sol', 1800, true],
    // No lifetime is promised.
    ['gemini-2.5-pro', 7200, false],
    // Nothing is cached.
    ['gpt-4-turbo', 0, true],
  ])('%s has expired after %d s: %s', (model, idleSeconds, expected) => {
    expect(isCacheExpired(pricesOf(model), idleSeconds)).toBe(expected);
  });
});

describe('what is expected', () => {
  it('is as many turns again', () => {
    expect([0, 1, 40].map(expectedRemainingTurns)).toEqual([1, 1, 40]);
  });

  it.each([
    { sizes: [], growth: 0 },
    { sizes: [10], growth: 0 },
    { sizes: [10, 20, 60], growth: 25 },
    { sizes: [100, 160, 20, 50], growth: 30 },
  ])('is a growth of $growth after $sizes', ({ sizes, growth }) => {
    expect(growthPerTurn(sizes)).toBe(growth);
  });
});
