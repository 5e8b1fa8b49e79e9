import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  AUTOCOMPACT_TRIGGER_FRACTION,
  shouldCompact,
  shouldContextCollapse,
  thresholdsFor,
  tokenWarningState,
} from './thresholds.ts';

/** Where a run is due in a window that is large beside its answers. */
const share = (windowTokens: number) => Math.floor(windowTokens * AUTOCOMPACT_TRIGGER_FRACTION);

const windows = fc.integer({ min: 4_000, max: 2_000_000 });
const outputs = fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined });

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
    { tokens: 166_999, compacts: false, collapses: false },
    { tokens: 167_000, compacts: true, collapses: false },
    { tokens: 180_000, compacts: true, collapses: false },
    { tokens: 185_000, compacts: true, collapses: false },
    { tokens: 195_000, compacts: true, collapses: false },
    { tokens: 195_999, compacts: true, collapses: false },
    { tokens: 196_000, compacts: true, collapses: true },
  ])('$tokens of 200,000 tokens: $compacts, $collapses', ({ tokens, compacts, collapses }) => {
    expect(shouldCompact(tokens, 200_000)).toBe(compacts);
    expect(shouldContextCollapse(tokens, 200_000)).toBe(collapses);
  });

  it('are never due in a window without a limit', () => {
    expect(shouldCompact(9_000_000, 0)).toBe(false);
    expect(shouldContextCollapse(9_000_000, 0)).toBe(false);
  });

  test.prop([windows, outputs])(
    'agree with the thresholds at exactly the trigger',
    (windowTokens, maxOutputTokens) => {
      const { triggerTokens } = thresholdsFor(windowTokens, { maxOutputTokens });

      expect(shouldCompact(triggerTokens, windowTokens, { maxOutputTokens })).toBe(true);
      expect(shouldCompact(triggerTokens - 1, windowTokens, { maxOutputTokens })).toBe(false);
    },
  );
});

describe('thresholdsFor', () => {
  it.each([
    { windowTokens: 200_000, maxOutputTokens: 20_000, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: 64_000, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: undefined, trigger: 167_000 },
    { windowTokens: 200_000, maxOutputTokens: 8192, trigger: Math.min(share(200_000), 178_808) },
    { windowTokens: 200_000, maxOutputTokens: 4096, trigger: share(200_000) },
    { windowTokens: 1_000_000, maxOutputTokens: 20_000, trigger: share(1_000_000) },
    { windowTokens: 128_000, maxOutputTokens: 16_384, trigger: 98_616 },
    { windowTokens: 64_000, maxOutputTokens: 64_000, trigger: 38_400 },
    { windowTokens: 60_000, maxOutputTokens: 64_000, trigger: 36_000 },
    { windowTokens: 32_000, maxOutputTokens: 4096, trigger: 22_323 },
    { windowTokens: 16_385, maxOutputTokens: 4096, trigger: 9831 },
    { windowTokens: 8192, maxOutputTokens: 4096, trigger: 4915 },
    { windowTokens: 1000, maxOutputTokens: undefined, trigger: 600 },
  ])(
    'a window of $windowTokens with answers of $maxOutputTokens is compacted at $trigger',
    ({ windowTokens, maxOutputTokens, trigger }) => {
      expect(thresholdsFor(windowTokens, { maxOutputTokens })).toMatchObject({
        windowTokens,
        triggerTokens: trigger,
      });
    },
  );

  it.each([
    { trigger: 900_000, target: 315_000 },
    { trigger: 167_000, target: 58_449 },
    { trigger: 50_000, target: 20_000 },
    { trigger: 36_000, target: 20_000 },
    { trigger: 20_000, target: 12_000 },
    { trigger: 600, target: 360 },
  ])(
    'aims at $target from a trigger of $trigger: the cheapest share that leaves room',
    ({ trigger, target }) => {
      expect(thresholdsFor(1_000_000, { trigger }).targetTokens).toBe(target);
    },
  );

  it('has no limit in a window of 0: nothing is due unless a trigger in tokens says so', () => {
    expect(thresholdsFor(0)).toEqual({
      windowTokens: 0,
      triggerTokens: Number.POSITIVE_INFINITY,
      targetTokens: Number.POSITIVE_INFINITY,
    });
    expect(thresholdsFor(0, { trigger: 10_000, target: 5000 })).toEqual({
      windowTokens: 0,
      triggerTokens: 10_000,
      targetTokens: 5000,
    });
  });

  it.each([
    { given: { trigger: 100_000 }, triggerTokens: 100_000, targetTokens: 35_000 },
    { given: { trigger: 199_000 }, triggerTokens: 199_000, targetTokens: 69_650 },
    { given: { trigger: 0.5 }, triggerTokens: 100_000, targetTokens: 35_000 },
    { given: { trigger: 1 }, triggerTokens: 200_000, targetTokens: 70_000 },
    { given: { target: 30_000 }, triggerTokens: 167_000, targetTokens: 30_000 },
    { given: { target: 0.2 }, triggerTokens: 167_000, targetTokens: 40_000 },
    { given: { trigger: 0.9, target: 0.1 }, triggerTokens: 180_000, targetTokens: 20_000 },
  ])('takes $given: tokens, or a share of the window', ({ given, ...thresholds }) => {
    expect(thresholdsFor(200_000, given)).toMatchObject(thresholds);
  });

  it.each([
    { window: Number.NaN, given: {}, names: /^windowTokens is NaN$/ },
    { window: -5, given: {}, names: /^windowTokens is -5$/ },
    { window: Number.POSITIVE_INFINITY, given: {}, names: /^windowTokens is Infinity$/ },
    { window: 200_000, given: { trigger: 200_001 }, names: /^trigger is 200001$/ },
    { window: 200_000, given: { trigger: 0 }, names: /^trigger is 0$/ },
    { window: 200_000, given: { trigger: Number.NaN }, names: /^trigger is NaN$/ },
    { window: 200_000, given: { target: 167_000 }, names: /^target is 167000$/ },
    { window: 200_000, given: { target: -1 }, names: /^target is -1$/ },
    { window: 200_000, given: { maxOutputTokens: -1 }, names: /^maxOutputTokens is -1$/ },
  ])('refuses a window of $window with $given, and says what to give instead', ({ window, given, names }) => {
    const refused = (): unknown => thresholdsFor(window, given);

    expect(refused).toThrow(names);
    expect(refused).toThrow(
      expect.objectContaining({ code: 'usage', remedy: expect.stringMatching(/^Give /) }),
    );
  });

  test.prop([windows, outputs])(
    'stays between two fifths and nine tenths of any window, and aims well below',
    (windowTokens, maxOutputTokens) => {
      const { triggerTokens, targetTokens } = thresholdsFor(windowTokens, { maxOutputTokens });

      expect(triggerTokens).toBeGreaterThanOrEqual(Math.floor(windowTokens * 0.4));
      expect(triggerTokens).toBeLessThanOrEqual(windowTokens * AUTOCOMPACT_TRIGGER_FRACTION);
      expect(targetTokens).toBeGreaterThan(0);
      expect(targetTokens).toBeLessThan(triggerTokens);
      expect([triggerTokens, targetTokens].every(Number.isInteger)).toBe(true);
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
