import fc from 'fast-check';
import { expect, it } from 'vitest';
import { appendBytes, byteAt, createByteWindow, markFrom, viewBytes } from './byte-window.ts';

it('holds what was appended from the kept offset on, whatever the sizes', () => {
  const step = fc.record({
    sizeBytes: fc.integer({ min: 0, max: 400_000 }),
    kept: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const window = createByteWindow();
      let keepFrom = 0;
      for (const { sizeBytes, kept } of steps) {
        const chunk = Buffer.alloc(sizeBytes);
        for (let index = 0; index < sizeBytes; index += 1) chunk[index] = (window.end + index) % 251;
        appendBytes(window, chunk, keepFrom);
        for (const offset of [keepFrom, window.end - 1]) {
          if (offset >= keepFrom && offset < window.end) expect(byteAt(window, offset)).toBe(offset % 251);
        }
        keepFrom += Math.floor((window.end - keepFrom) * kept);
        expect(window.storage.length).toBeLessThanOrEqual(Math.max(512 * 1024, 4 * window.bytes.length));
      }
      expect(byteAt(window, window.end)).toBe(-1);
      expect(viewBytes(window, keepFrom, window.end)).toHaveLength(window.end - keepFrom);
    }),
    { numRuns: 50 },
  );
});

it('counts lines and columns on from a mark', () => {
  const window = createByteWindow();
  appendBytes(window, Buffer.from('ab\ncd\n\nef'), 0);
  const start = { offset: 1, line: 7, column: 2 };

  expect(markFrom(window, start, 1)).toEqual(start);
  expect(markFrom(window, start, 4)).toEqual({ offset: 4, line: 8, column: 2 });
  expect(markFrom(window, start, 8)).toEqual({ offset: 8, line: 10, column: 2 });
});
