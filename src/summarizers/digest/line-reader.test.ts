import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { LineReader } from './line-reader.ts';
import { indentOf, PIECE, pieceEnd } from './line-text.ts';
import { MOST_UNITS, readUnits, units } from './line-units.ts';
import { withoutNumber } from './result-lines.ts';

/** What a reader says of every line: the line without the white space at its end, and how long it was. */
function read(text: string, isNumbered = false): readonly (readonly [string, number])[] {
  const reader = new LineReader();
  const lines: [string, number][] = [];
  reader.open(text, isNumbered);
  while (reader.advance()) {
    const { start, end, offset, length, isApart } = reader;
    const line = isApart ? text.slice(start, end) : text.slice(offset + start, offset + end);
    if (!isApart) expect([...units.subarray(start, end)]).toEqual(Array.from(line.split(''), unitOf));
    lines.push([line, length]);
  }
  return lines;
}

function unitOf(character: string): number {
  return character.charCodeAt(0);
}

function split(text: string, isNumbered = false): readonly (readonly [string, number])[] {
  const lines = text.split('\n').map((line) => (isNumbered ? withoutNumber(line) : line));
  return lines.map((line) => [line.trimEnd(), line.length]);
}

const unit = fc.constantFrom(...'ab 1\n\n\t\r\u00a0\u3000→é\ud83d,');
const short = fc.string({ unit, maxLength: 40 });
/** Some of them fit nowhere, or only just. */
const long = fc
  .tuple(fc.constantFrom('x', 'é', ' ', 'x '), fc.integer({ min: -2, max: 2 }), fc.boolean())
  .map(([text, more, isTwice]) => text.repeat((MOST_UNITS + more) * (isTwice ? 2 : 1)));

describe('LineReader', () => {
  test.prop([fc.array(fc.oneof({ weight: 5, arbitrary: short }, long), { maxLength: 6 }), fc.boolean()])(
    'reads the lines of any text',
    (pieces, isNumbered) => {
      const text = pieces.join('\n');

      expect(read(text, isNumbered)).toEqual(split(text, isNumbered));
    },
  );

  it.each([
    { why: 'an empty text is an empty line', text: '', isNumbered: false },
    { why: 'lines that fill the room again and again', text: 'some line\n'.repeat(5000), isNumbered: false },
    {
      why: 'a number before a line that is too long',
      text: `   12\t${'y'.repeat(20_000)}\n 3→z`,
      isNumbered: true,
    },
    ...[-1, 0, 1, 2].map((more) => ({
      why: `a line of ${MOST_UNITS + more} units before another`,
      text: `first\n${'x'.repeat(MOST_UNITS + more)}\n${'y '.repeat(MOST_UNITS)}\nlast`,
      isNumbered: false,
    })),
    { why: 'numbers that are too long', text: '123456789\tx\n         1\ty', isNumbered: true },
  ])('$why', ({ text, isNumbered }) => {
    expect(read(text, isNumbered)).toEqual(split(text, isNumbered));
  });
});

describe('pieceEnd', () => {
  test.prop([fc.string({ unit: fc.constantFrom(...'abcdefghi ,'), minLength: 1, maxLength: 900 })])(
    'cuts a line behind its words, and loses nothing',
    (line) => {
      const end = readUnits(line);
      for (let start = 0; start < end; ) {
        const next = pieceEnd(start, end);
        const half = line.slice(start + PIECE / 2, start + PIECE + 1);
        expect(next).toBeGreaterThan(start);
        expect(next - start).toBeLessThanOrEqual(PIECE);
        if (next < end && /.[ ]|,./.test(half))
          expect(line[next] === ' ' || line[next - 1] === ',').toBe(true);
        if (next < end) expect(next - start).toBeGreaterThan(PIECE / 2);
        start = next;
      }
    },
  );
});

describe('indentOf', () => {
  it.each(['x', '  x', '\t x', '\u00a0x', '   '])('counts the white space before “%s”', (line) => {
    expect(indentOf(0, readUnits(line))).toBe(line.length - line.trimStart().length);
  });
});
