import { describe, expect, it } from 'vitest';
import { tokenWarningState } from './budget.ts';

describe('tokenWarningState, behaviours 7.3', () => {
  it.each([
    { tokens: 50_000, level: 'ok' },
    { tokens: 100_000, level: 'ok' },
    { tokens: 159_999, level: 'ok' },
    { tokens: 160_000, level: 'warning' },
    { tokens: 170_000, level: 'warning' },
    { tokens: 190_000, level: 'critical' },
    { tokens: 192_000, level: 'critical' },
    { tokens: 196_000, level: 'critical' },
  ])('$tokens of 200,000 tokens are $level', ({ tokens, level }) => {
    expect(tokenWarningState(tokens, 200_000)).toBe(level);
  });

  it('never warns where there is no limit', () => {
    expect(tokenWarningState(1_000_000, 0)).toBe('ok');
  });
});
