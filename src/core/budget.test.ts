import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  AUTOCOMPACT_TRIGGER_FRACTION,
  shouldCompact,
  shouldContextCollapse,
  thresholdsFor,
  tokenWarningState,
} from './budget.ts';

describe('tokenWarningState', () => {
  it.each([
    { tokens: 50_000, level: 'ok' },
    { tokens: 100_000, level: 'ok' },
    { tokens: 159_999, level: 'ok' },
    { tokens: 160_000, level: 'warning' },
    { tokens: 170_000, level: 'warning' },
    { tokens: 189_999, level: 'warning' },
    { tokens: 190_000, level: 'critical' },
    { tokens: 192_000, level: 'critical' },
    { tokens: 196_000, level: 'critical' },
  ])('$tokens of 200,000 tokens are $level', ({ tokens, level }) => {
    expect(tokenWarningState(tokens, 200_000)).toBe(level);
  });

  it('never warns where there is no limit', () => {
    expect(tokenWarningState(1_000_000, 0)).toBe('ok');
    expect(tokenWarningState(1_000_000, -1)).toBe('ok');
  });
});

describe('shouldCompact and shouldContextCollapse', () => {
  it.each([
    { tokens: 100_000, compacts: false, collapses: false },
    { tokens: 170_000, compacts: false, collapses: false },
    { tokens: 178_000, compacts: false, collapses: false },
    { tokens: 179_999, compacts: false, collapses: false },
    { tokens: 180_000, compacts: true, collapses: false },
    { tokens: 182_000, compacts: true, collapses: false },
    { tokens: 185_000, compacts: true, collapses: false },
    { tokens: 195_000, compacts: true, collapses: false },
    { tokens: 195_999, compacts: true, collapses: false },
    { tokens: 196_000, compacts: true, collapses: true },
  ])('$tokens of 200,000 tokens: $compacts, $collapses', ({ tokens, compacts, collapses }) => {
    expect(shouldCompact(tokens, 200_000)).toBe(compacts);
    expect(shouldContextCollapse(tokens, 200_000)).toBe(collapses);
  });

  it.each([0, -200_000])('are never due in a window of %d', (windowTokens) => {
    expect(shouldCompact(9_000_000, windowTokens)).toBe(false);
    expect(shouldContextCollapse(9_000_000, windowTokens)).toBe(false);
  });
});

const windows = fc.integer({ min: 4_000, max: 2_000_000 });
const outputs = fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined });
const overrides = fc.option(fc.integer({ min: 1, max: 3_000_000 }), { nil: undefined });

describe('thresholdsFor', () => {
  it.each([
    { windowTokens: 200_000, maxOutputTokens: 20_000, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: 64_000, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: undefined, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: 8192, trigger: 178_808 },
    { windowTokens: 200_000, maxOutputTokens: 4096, trigger: 180_000 },
    { windowTokens: 1_000_000, maxOutputTokens: 20_000, trigger: 900_000 },
    { windowTokens: 128_000, maxOutputTokens: 16_384, trigger: 98_616 },
    { windowTokens: 32_000, maxOutputTokens: 4096, trigger: 16_000 },
    { windowTokens: 16_385, maxOutputTokens: 4096, trigger: 8192 },
    { windowTokens: 8192, maxOutputTokens: 4096, trigger: 4096 },
  ])(
    'a window of $windowTokens with answers of $maxOutputTokens is compacted at $trigger',
    ({ windowTokens, maxOutputTokens, trigger }) => {
      expect(thresholdsFor(windowTokens, { maxOutputTokens })).toEqual({
        windowTokens,
        triggerTokens: trigger,
        targetTokens: Math.floor(trigger * 0.6),
      });
    },
  );

  it.each([0, -1, -200_000])('a window of %d has no limit, so nothing is ever due', (windowTokens) => {
    expect(thresholdsFor(windowTokens, { triggerTokens: 10, targetTokens: 5 })).toEqual({
      windowTokens: 0,
      triggerTokens: Number.POSITIVE_INFINITY,
      targetTokens: Number.POSITIVE_INFINITY,
    });
  });

  it('takes an earlier trigger and a smaller target, and no later ones', () => {
    expect(thresholdsFor(200_000, { triggerTokens: 100_000 })).toMatchObject({
      triggerTokens: 100_000,
      targetTokens: 60_000,
    });
    expect(thresholdsFor(200_000, { triggerTokens: 199_000 }).triggerTokens).toBe(167_000);
    expect(thresholdsFor(200_000, { targetTokens: 30_000 })).toMatchObject({
      triggerTokens: 167_000,
      targetTokens: 30_000,
    });
  });

  test.prop([windows, outputs])(
    'stays between half and nine tenths of any window, and aims well below',
    (windowTokens, maxOutputTokens) => {
      const { triggerTokens, targetTokens } = thresholdsFor(windowTokens, { maxOutputTokens });

      expect(triggerTokens).toBeGreaterThanOrEqual(Math.floor(windowTokens / 2));
      expect(triggerTokens).toBeLessThanOrEqual(windowTokens * AUTOCOMPACT_TRIGGER_FRACTION);
      expect(targetTokens).toBeGreaterThan(0);
      expect(targetTokens).toBeLessThan(triggerTokens);
      expect([triggerTokens, targetTokens].every(Number.isInteger)).toBe(true);
    },
  );

  test.prop([windows, outputs, overrides, overrides])(
    'has a trigger above its target, whatever is asked for',
    (windowTokens, maxOutputTokens, triggerTokens, targetTokens) => {
      const found = thresholdsFor(windowTokens, { maxOutputTokens, triggerTokens, targetTokens });

      expect(found.triggerTokens).toBeLessThanOrEqual(
        thresholdsFor(windowTokens, { maxOutputTokens }).triggerTokens,
      );
      expect(found.targetTokens).toBeGreaterThanOrEqual(0);
      expect(found.targetTokens).toBeLessThan(found.triggerTokens);
    },
  );

  test.prop([windows, outputs, fc.integer({ min: 1, max: 100_000 })])(
    'never compacts a larger window earlier',
    (windowTokens, maxOutputTokens, more) => {
      expect(thresholdsFor(windowTokens + more, { maxOutputTokens }).triggerTokens).toBeGreaterThanOrEqual(
        thresholdsFor(windowTokens, { maxOutputTokens }).triggerTokens,
      );
    },
  );
});
