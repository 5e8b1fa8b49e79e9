import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { bufferOf } from './editor.ts';
import { linesAboveCursor, toScreenLines } from './screen-lines.ts';

const size = { prompt: '> ', columns: 20, rows: 50 };

describe('toScreenLines', () => {
  it.each([
    ['', ['> '], [0, 2]],
    ['abc', ['> abc'], [0, 5]],
    ['a\nb', ['> a', '  b'], [1, 3]],
    ['a\n', ['> a', '  '], [1, 2]],
    ['x'.repeat(17), [`> ${'x'.repeat(17)}`], [0, 19]],
    ['x'.repeat(18), [`> ${'x'.repeat(17)}`, '  x'], [1, 3]],
    [`${'x'.repeat(16)}漢`, [`> ${'x'.repeat(16)}`, '  漢'], [1, 4]],
  ])('breaks %j', (text, lines, [line, column]) => {
    const drawn = toScreenLines(bufferOf(text), size);

    expect(drawn.lines).toEqual(lines);
    expect([drawn.cursorLine, drawn.cursorColumn]).toEqual([line, column]);
  });

  test.prop([fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 12, max: 60 }), fc.nat()])(
    'no line reaches the edge, nothing is lost, and the cursor stands on the screen',
    (text, columns, place) => {
      const cursor = place % (text.length + 1);
      const drawn = toScreenLines({ text, cursor }, { ...size, columns, rows: 1000 });
      const written = drawn.lines.map((line) => line.slice(2)).join('');

      expect(Math.max(...drawn.widths)).toBeLessThan(columns);
      expect(written).toBe(text.replaceAll('\n', '').replaceAll('\t', ' '));
      expect(drawn.cursorLine).toBeLessThan(drawn.lines.length);
      expect(linesAboveCursor(drawn, columns)).toBe(drawn.cursorLine);
    },
  );

  it('shows what stands around the cursor when there is no room for all', () => {
    const text = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');

    expect(toScreenLines(bufferOf(text), { ...size, rows: 6 }).lines).toEqual(
      [35, 36, 37, 38, 39].map((index) => `  line ${index}`),
    );
    expect(toScreenLines({ text, cursor: 0 }, { ...size, rows: 6 }).lines[0]).toBe('> line 0');
  });
});
