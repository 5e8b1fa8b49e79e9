import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { shortenText } from './draft.ts';

/** One token for each character. */
const length = (text: string) => text.length;

describe('shortenText', () => {
  it('gives the very same text when it is short enough', () => {
    expect(shortenText('a text', 6, length)).toBe('a text');
    expect(shortenText('', 0, length)).toBe('');
  });

  it('keeps two thirds of the room for the beginning and one for the end, and says what is left out', () => {
    const text = `${'a'.repeat(5000)}${'z'.repeat(5000)}`;
    const [, head = '', left, tail = ''] =
      /^(a+)\n\[(\d+) characters left out to fit the context window\]\n(z+)$/.exec(
        shortenText(text, 1000, length),
      ) ?? [];

    expect(head.length + Number(left) + tail.length).toBe(text.length);
    expect(head.length / tail.length).toBeCloseTo(2, 1);
    expect(head.length + tail.length).toBeGreaterThan(850);
  });

  it('goes by tokens, however unevenly they are spread', () => {
    // Digits cost five times as much as letters.
    const count = (text: string) => text.replaceAll(/\d/g, '55555').length;
    const text = `${'1'.repeat(3000)}${'a'.repeat(9000)}`;

    expect(count(shortenText(text, 2000, count))).toBeLessThanOrEqual(2000);
  });

  it('halves no character', () => {
    for (let tokens = 100; tokens < 140; tokens++)
      expect(shortenText('🦊'.repeat(500), tokens, length).isWellFormed()).toBe(true);
  });

  test.prop([fc.string({ unit: 'binary', maxLength: 3000 }), fc.nat(2000)])(
    'begins and ends as the text does, and is larger than asked for only where the note is',
    (text, tokens) => {
      const shorter = shortenText(text, tokens, length);
      const [head = '', note, tail = ''] = shorter.split(/\n(\[\d+ characters left out [^\]]+\])\n/);
      fc.pre(!text.includes('characters left out'));

      expect(text.startsWith(head)).toBe(true);
      if (note === undefined) expect(shorter).toBe(text);
      else expect(text.endsWith(tail)).toBe(true);
      expect(shorter.length).toBeLessThanOrEqual(Math.max(tokens, 80));
    },
  );
});
