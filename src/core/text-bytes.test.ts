import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { TextBytes } from './text-bytes.ts';

const long = fc.string({ unit: 'grapheme', minLength: 30, maxLength: 300 });
const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), long);

function written(...texts: readonly string[]): Buffer {
  const bytes = new TextBytes();
  for (const each of texts) bytes.addText(each);
  return Buffer.from(bytes.written());
}

/** Reads back what was written. */
function read(bytes: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const isWide = bytes[at] === 'w'.charCodeAt(0);
    const isSmall = (bytes[at + 1] ?? 0) < 0x80;
    const length = isSmall ? (bytes[at + 1] ?? 0) : bytes.readUInt32LE(at + 2);
    const start = at + (isSmall ? 2 : 6);
    at = start + (isWide ? 2 : 1) * length;
    texts.push(bytes.toString(isWide ? 'utf16le' : 'latin1', start, at));
  }
  return texts;
}

describe('texts as bytes', () => {
  test.prop([fc.array(text)])(
    'can be read back, so that no two lists of texts are the same bytes',
    (texts) => {
      expect(read(written(...texts))).toEqual(texts);
    },
  );

  it.each([
    ['', 's\x00'],
    ['a', 's\x01a'],
    ['é\u0000ÿ', 's\x03\xe9\x00\xff'],
    ['aĀ', 'w\x02a\x00\x00\x01'],
    ['\ud800', 'w\x01\x00\xd8'],
    ['a'.repeat(127), `s\x7f${'a'.repeat(127)}`],
    ['a'.repeat(300), `s\x80\x2c\x01\x00\x00${'a'.repeat(300)}`],
    [`${'a'.repeat(40)}ÿ`, `s\x29${'a'.repeat(40)}\xff`],
    [`${'a'.repeat(40)}Ā`, `w\x29${'a\x00'.repeat(40)}\x00\x01`],
  ])('are one byte a unit where that is enough: %j', (given, expected) => {
    expect(written(given).toString('latin1')).toBe(expected);
  });

  it('are the same bytes for the same text, however it was made', () => {
    const wide = 'abcdefghijklmnopqrstuvwxyz'.repeat(3);
    expect(written(`Ā${wide}`.slice(1))).toEqual(written(wide));
    expect(written('Āabc'.slice(1))).toEqual(written('abc'));
  });

  test.prop([fc.uint8Array({ maxLength: 200 })])('stand beside marks and bytes', (added) => {
    const bytes = new TextBytes();
    bytes.addUnit(0x3a);
    bytes.addBytes(added);
    expect([...bytes.written()]).toEqual([0x3a, ...added]);
    expect(bytes.length).toBe(added.length + 1);
  });

  it('grow with what is written, and begin anew', () => {
    const bytes = new TextBytes();
    const huge = 'a€😀'.repeat(1_000_000);
    bytes.addText('x');
    bytes.addText(huge);
    expect(read(Buffer.from(bytes.written()))).toEqual(['x', huge]);
    bytes.clear();
    bytes.addText('b');
    expect(read(Buffer.from(bytes.written()))).toEqual(['b']);
  });
});
