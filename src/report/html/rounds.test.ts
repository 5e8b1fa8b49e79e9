import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { RoundSeries } from '../round-series.ts';
import { textOfMarkup } from './markup.ts';
import { roundsChart, thinOut } from './rounds.ts';

const limits = { windowTokens: 200_000, triggerTokens: 167_000, targetTokens: 100_000 };
const draw = (series: RoundSeries, points = 300) =>
  textOfMarkup(roundsChart([series], limits, { chartPoints: points, chartHeightPixels: 200 }));
const stretches = (...lists: readonly (readonly number[])[]): RoundSeries => ({
  name: 'recorded',
  stretches: lists,
  compactions: lists.slice(1).map(() => ({ tokensBefore: 5, tokensAfter: 1, trigger: 'auto' })),
});

describe('thinOut', () => {
  test.prop([fc.array(fc.nat(), { minLength: 1 }), fc.integer({ min: 2, max: 50 })])(
    'keeps order, ends and the largest, and no more than asked for',
    (sizes, limit) => {
      const thinned = thinOut(sizes, limit);
      const rounds = thinned.map(({ round }) => round);

      expect(thinned.length).toBeLessThanOrEqual(Math.max(2, limit));
      expect(rounds).toEqual([...new Set(rounds)].sort((left, right) => left - right));
      expect(thinned.every(({ round, tokens }) => sizes[round] === tokens)).toBe(true);
      expect([rounds[0], rounds.at(-1)]).toEqual([0, sizes.length - 1]);
      if (limit > 2) expect(Math.max(...thinned.map(({ tokens }) => tokens))).toBe(Math.max(...sizes));
    },
  );
});

describe('roundsChart', () => {
  it('marks each compaction and names the lines of the window', () => {
    const chart = draw(stretches([20_000, 150_000, 170_000], [30_000, 90_000], [20_000]));

    expect(chart.match(/class="cut"/g)).toHaveLength(2);
    expect(chart).toContain('<title>compaction 2: 5 to 1 tokens</title>');
    for (const words of ['window 200k', 'trigger 167k', 'target 100k']) expect(chart).toContain(words);
  });

  it('leaves out a window that would squeeze the curve to the floor', () => {
    expect(draw(stretches([900, 12_000]))).not.toContain('window');
  });

  it('has a size that does not depend on how many rounds and compactions there were', () => {
    const many = stretches(...Array.from({ length: 4000 }, () => [1000, 2000, 3000]));
    const long = stretches(Array.from({ length: 100_000 }, (_, index) => index));

    expect(draw(many).length).toBeLessThan(12_000);
    expect(draw(long).length).toBeLessThan(12_000);
  });

  it.each([
    { name: 'nothing', series: stretches() },
    { name: 'no rounds', series: stretches([]) },
    { name: 'one round', series: stretches([0]) },
    { name: 'an empty stretch', series: stretches([5], [], [7]) },
  ])('draws $name without a number that is none', ({ series }) => {
    expect(draw(series)).not.toMatch(/NaN|Infinity|undefined/);
  });
});
