import { describe, expect, it } from 'vitest';
import {
  countOf,
  drawBar,
  drawTable,
  formatBytes,
  formatCount,
  formatShare,
  formatShort,
  formatTime,
} from './terminal.ts';

describe('drawBar', () => {
  it.each([
    { share: 0, bar: '    ' },
    { share: 1, bar: '████' },
    { share: 0.5, bar: '██  ' },
    { share: 0.28, bar: '█▏  ' },
    { share: 7, bar: '████' },
    { share: Number.NaN, bar: '    ' },
  ])('draws $share of four columns as "$bar"', ({ share, bar }) => {
    expect(drawBar(share, 4)).toBe(bar);
  });

  it('draws with plain characters where there are no others', () => {
    expect(drawBar(0.5, 4, true)).toBe('##..');
  });
});

describe('numbers', () => {
  it.each([
    { text: formatCount(1234567.8), expected: '1,234,568' },
    { text: formatShort(999), expected: '999' },
    { text: formatShort(12_345), expected: '12.3k' },
    { text: formatShort(123_456), expected: '123k' },
    { text: formatShort(999_960), expected: '1.00M' },
    { text: formatShare(0.6119), expected: '61.2 %' },
    { text: countOf(1, 'call'), expected: '1 call' },
    { text: countOf(2000, 'call'), expected: '2,000 calls' },
  ])('are written $expected', ({ text, expected }) => {
    expect(text).toBe(expected);
  });
});

describe('drawTable', () => {
  it('aligns columns, shortens what is too long and leaves no blanks at the end', () => {
    const rows = [
      ['a', '1', ''],
      ['a long name', '1,000', 'x'],
    ];

    expect(drawTable(rows, [{ align: 'left', maximum: 6 }, { align: 'right' }, { align: 'left' }])).toBe(
      '  a           1\n  a lon…  1,000  x\n',
    );
  });

  it('draws nothing of nothing', () => {
    expect(drawTable([], [{ align: 'left' }])).toBe('');
  });
});

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
});
