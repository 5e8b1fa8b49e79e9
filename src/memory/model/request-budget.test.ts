import { describe, expect, it } from 'vitest';
import { summaryRequestBudget } from './request-budget.ts';

describe('summaryRequestBudget', () => {
  it.each([
    { window: 8192, inputTokens: 5120, outputTokens: 2560, marginTokens: 512 },
    { window: 16_000, inputTokens: 10_134, outputTokens: 5066, marginTokens: 800 },
    { window: 32_000, inputTokens: 20_267, outputTokens: 10_133, marginTokens: 1600 },
    { window: 128_000, inputTokens: 107_520, outputTokens: 16_384, marginTokens: 4096 },
    { window: 200_000, inputTokens: 179_520, outputTokens: 16_384, marginTokens: 4096 },
    { window: 1200, inputTokens: 256, outputTokens: 512, marginTokens: 512 },
  ])('divides a window of $window', ({ window, ...budget }) => {
    expect(summaryRequestBudget(window, 16_384)).toEqual(budget);
  });

  it.each([0, -1])('takes %i for unlimited', (window) => {
    expect(summaryRequestBudget(window, 16_384)).toEqual({
      inputTokens: Number.POSITIVE_INFINITY,
      outputTokens: 16_384,
      marginTokens: 0,
    });
  });
});
