import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { timestampOf } from './records.ts';

describe('a recorded time', () => {
  it.each([
    { value: '2026-01-01 00:00', unit: undefined, timestamp: '2026-01-01 00:00' },
    { value: 1_767_225_600_000, unit: undefined, timestamp: '2026-01-01T00:00:00.000Z' },
    { value: 1_767_225_600.5, unit: 'seconds', timestamp: '2026-01-01T00:00:00.500Z' },
    { value: Number.NaN, unit: undefined, timestamp: undefined },
    { value: 1e300, unit: undefined, timestamp: undefined },
    { value: 8.64e15, unit: 'seconds', timestamp: undefined },
    { value: null, unit: undefined, timestamp: undefined },
  ] as const)('$value in $unit is $timestamp', ({ value, unit, timestamp }) => {
    expect(timestampOf(value, unit)).toBe(timestamp);
  });

  test.prop([fc.anything()])('of any other kind is none', (value) => {
    expect(() => timestampOf(value)).not.toThrow();
  });
});
