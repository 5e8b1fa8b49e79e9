import { describe, expect, it } from 'vitest';
import { formatBytes, formatPlace, formatTime, idLength } from './short-forms.ts';

describe('short forms', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [2_500_000_000, '2.5 GB'],
    [7e15, '7000.0 TB'],
  ])('of %d bytes: %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, '1970-01-01 00:00'],
    [Date.UTC(2026, 10, 16, 5, 29, 59), '2026-11-16 05:29'],
    [1e300, '?'],
  ])('of time %d: %s', (milliseconds, text) => {
    expect(formatTime(milliseconds)).toBe(text);
  });

  it.each([
    [{ start: 0, end: 1 }, 'message 1'],
    [{ start: 3, end: 7 }, 'messages 4 to 7'],
  ])('of place %o: %s', (place, text) => {
    expect(formatPlace(place)).toBe(text);
  });

  it.each([
    [[], 12],
    [['a', 'a'], 12],
    [['0123456789abcdef', '0123456789abcdxx'], 15],
    [['0123456789abcdef', '0123456789abcdef0', 'b'], 17],
  ])('of ids %j: %d letters', (ids, length) => {
    expect(idLength(ids)).toBe(length);
  });
});
