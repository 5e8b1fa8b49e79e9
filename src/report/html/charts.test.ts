import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { axisTo, percent, place, tickCount } from './charts.ts';

const axis = (max: number, options: { min?: number; isExact?: boolean } = {}) =>
  axisTo(max, { label: 'x', format: String, ...options });

describe('axisTo', () => {
  it.each([
    { max: 200_000, ticks: [0, 50_000, 100_000, 150_000, 200_000] },
    { max: 0.485, ticks: [0, 0.2, 0.4, 0.6] },
    { max: 1, ticks: [0, 0.25, 0.5, 0.75, 1] },
    { max: 3, ticks: [0, 1, 2, 3] },
    { max: 0, ticks: [0, 0.25, 0.5, 0.75, 1] },
    { max: Number.NaN, ticks: [0, 0.25, 0.5, 0.75, 1] },
    { max: Number.POSITIVE_INFINITY, ticks: [0, 0.25, 0.5, 0.75, 1] },
  ])('puts ticks at round numbers up to $max', ({ max, ticks }) => {
    expect(axis(max).ticks.map((tick) => Number(tick.toFixed(9)))).toEqual(ticks);
  });

  it('ends at the value itself where that is wanted', () => {
    expect(axis(208_000, { isExact: true })).toMatchObject({ max: 208_000, ticks: [0, 100_000, 200_000] });
  });

  test.prop([fc.double({ min: 1e-6, max: 1e12, noNaN: true }), fc.boolean()])(
    'has few ticks, all of them on the axis, and room for the value',
    (max, isExact) => {
      const made = axis(max, { isExact });

      expect(made.ticks.length).toBeGreaterThan(1);
      expect(made.ticks.length).toBeLessThan(8);
      expect(made.max).toBeGreaterThanOrEqual(max * (1 - 1e-9));
      expect(made.ticks.every((tick) => tick >= 0 && tick <= made.max * (1 + 1e-9))).toBe(true);
    },
  );
});

describe('places', () => {
  it.each([
    { value: -1, at: 0 },
    { value: 50, at: 0.5 },
    { value: 1000, at: 1 },
    { value: Number.NaN, at: 0 },
  ])('of $value are inside the plot', ({ value, at }) => {
    expect(place(value, axis(100))).toBe(at);
  });

  it.each([
    { share: 1 / 3, text: '33.33%' },
    { share: 1, text: '100%' },
    { share: -2, text: '0%' },
    { share: Number.NaN, text: '0%' },
  ])('are written as $text', ({ share, text }) => {
    expect(percent(share)).toBe(text);
  });

  it.each([
    { count: 0, text: '0' },
    { count: 50_000, text: '50k' },
    { count: 2500, text: '2.5k' },
    { count: 1_000_000, text: '1M' },
    { count: 1_500_000, text: '1.5M' },
    { count: 1_250_000, text: '1.25M' },
  ])('are named $text', ({ count, text }) => {
    expect(tickCount(count)).toBe(text);
  });
});
