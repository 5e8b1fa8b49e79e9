import { describe, expect, test } from 'vitest';
import { aggregate, estimate, pairedDifference } from './aggregate.ts';
import type { Measurement } from './measure.ts';

const share = { kept: 0, of: 0 };

function measured(row: string, session: string, kept: number, given: Partial<Measurement> = {}): Measurement {
  return {
    row,
    level: '10 %',
    session,
    tokensKept: 0.1,
    isOverBudget: false,
    brokenRules: [],
    stableShare: 1,
    milliseconds: 1,
    score: {
      futureReference: { kept, of: 10 },
      rareReference: share,
      bound: share,
      editAnchors: share,
      constraints: share,
      changedFiles: share,
      retrievableReference: share,
      retrievableAnchors: share,
      rereadTokens: 0,
      byKind: { camel: { kept, of: 10 } },
      bySource: {},
    },
    ...given,
  };
}

describe('summing measurements up', () => {
  test('a session counts once, however many cuts it has', () => {
    const [result] = aggregate([measured('a', 'one', 10), measured('a', 'one', 10), measured('a', 'two', 0)]);
    expect(result?.figures.futureReference).toMatchObject({ mean: 0.5, sessions: 2 });
    expect(result?.byKind).toEqual({ camel: { kept: 20, of: 30 } });
  });

  test('sessions with nothing to keep are left out of a figure', () => {
    const [result] = aggregate([measured('a', 'one', 10)]);
    expect(result?.figures.editAnchors.sessions).toBe(0);
    expect(result?.figures.editAnchors.mean).toBeNaN();
  });

  test('illegal and oversize outputs are counted', () => {
    const [result] = aggregate([
      measured('a', 'one', 1, { brokenRules: ['no-messages'], isOverBudget: true }),
      measured('a', 'two', 1),
    ]);
    expect(result).toMatchObject({ illegal: 1, brokenRules: ['no-messages'], overBudget: 1, cuts: 2 });
  });

  test('rows and levels stay apart', () => {
    const results = aggregate([
      measured('a', 'one', 1),
      measured('b', 'one', 1),
      measured('a', 'one', 1, { level: '20 %' }),
    ]);
    expect(results.map(({ row, level }) => `${row} ${level}`)).toEqual(['a 10 %', 'b 10 %', 'a 20 %']);
  });

  test('differences are taken session by session', () => {
    const list = [
      measured('a', 'one', 9),
      measured('b', 'one', 5),
      measured('a', 'two', 3),
      measured('b', 'two', 1),
    ];
    const difference = pairedDifference(
      [...list, measured('a', 'three', 10)],
      ['a', 'b'],
      '10 %',
      'futureReference',
    );
    expect(difference.mean).toBeCloseTo(0.3);
    expect(difference.sessions).toBe(2);
  });
});

describe('an interval', () => {
  test('is the same for the same values, and holds the mean', () => {
    const values = [0.1, 0.5, 0.9, 0.4, 0.6];
    const first = estimate(values, 'seed');
    expect(estimate(values, 'seed')).toEqual(first);
    expect(first.low).toBeLessThan(first.mean);
    expect(first.high).toBeGreaterThan(first.mean);
  });

  test('gets narrower with more sessions', () => {
    const width = (count: number) => {
      const { low, high } = estimate(
        Array.from({ length: count }, (_, index) => index % 2),
        'seed',
      );
      return high - low;
    };
    expect(width(200)).toBeLessThan(width(20) / 2);
  });

  test('of one value is that value', () => {
    expect(estimate([0.7], 'seed')).toEqual({ mean: 0.7, low: 0.7, high: 0.7, sessions: 1 });
  });
});
