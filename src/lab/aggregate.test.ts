import { describe, expect, test } from 'vitest';
import { aggregate, estimate, pairedDifference } from './aggregate.ts';
import type { Measurement } from './measure.ts';
import { type Figures, figureMeasures } from './measures.ts';

// One entry for each figure.
const nothing = Object.fromEntries(figureMeasures.map(({ figure }) => [figure, undefined])) as Figures;

function measured(
  row: string,
  session: string,
  names: number,
  given: Partial<Measurement> = {},
): Measurement {
  const figures = { ...nothing, kept: 0.1, names };
  return { row, level: '10 %', session, figures, brokenRules: [], isOverBudget: false, ...given };
}

describe('summing measurements up', () => {
  test('a session counts once, however many cuts it has', () => {
    const [result] = aggregate([measured('a', 'one', 1), measured('a', 'one', 1), measured('a', 'two', 0)]);
    expect(result?.figures.names).toMatchObject({ mean: 0.5, sessions: 2 });
  });

  test('sessions with nothing to measure are left out of a figure', () => {
    const [result] = aggregate([measured('a', 'one', 1)]);
    expect(result?.figures.editLines.sessions).toBe(0);
    expect(result?.figures.editLines.mean).toBeNaN();
  });

  test('illegal and oversize outputs are counted', () => {
    const [result] = aggregate([
      measured('a', 'one', 1, { brokenRules: ['no-messages'], isOverBudget: true }),
      measured('a', 'two', 1),
    ]);
    expect(result).toMatchObject({
      illegalOutputs: 1,
      brokenRules: ['no-messages'],
      overBudget: 1,
      cuts: 2,
    });
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
      measured('a', 'one', 0.9),
      measured('b', 'one', 0.5),
      measured('a', 'two', 0.3),
      measured('b', 'two', 0.1),
    ];
    const difference = pairedDifference([...list, measured('a', 'three', 1)], ['a', 'b'], '10 %', 'names');
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
