import { describe, expect, it } from 'vitest';
import { countOf, drawBar, drawTable, formatCount, formatShare, formatShort } from './terminal.ts';

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
