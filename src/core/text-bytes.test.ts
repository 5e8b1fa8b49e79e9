import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { TextBytes } from './text-bytes.ts';

const utf8 = (text: string) => [...new TextEncoder().encode(text)];
const long = fc.string({ unit: 'grapheme', minLength: 60, maxLength: 300 });
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), long);

describe('text as bytes', () => {
  test.prop([fc.array(text)])('is what the pieces are in UTF-8, one behind the other', (pieces) => {
    const bytes = new TextBytes();
    for (const piece of pieces) bytes.add(piece);
    expect([...bytes.written()]).toEqual(utf8(pieces.join('')));
    expect(bytes.length).toBe(bytes.written().length);
  });

  test.prop([fc.nat(), fc.uint8Array({ maxLength: 200 })])('has digits and bytes in it', (number, added) => {
    const bytes = new TextBytes();
    bytes.addDigits(number);
    bytes.addUnit(0x3a);
    bytes.addBytes(added);
    expect([...bytes.written()]).toEqual([...utf8(`${number}:`), ...added]);
  });

  it('grows with what is written, whatever its characters take', () => {
    const bytes = new TextBytes();
    const huge = 'a€😀'.repeat(1_000_000);
    bytes.add(huge);
    expect(Buffer.from(bytes.written()).equals(Buffer.from(huge))).toBe(true);
    bytes.cutTo(0);
    bytes.add('b');
    expect([...bytes.written()]).toEqual([0x62]);
  });

  it.each(['é', 'abcé', 'a'.repeat(80), 'a'.repeat(81)])('writes %j once, behind what is there', (other) => {
    const bytes = new TextBytes();
    bytes.add('x');
    bytes.add(other);
    expect([...bytes.written()]).toEqual(utf8(`x${other}`));
  });

  it('takes back the end', () => {
    const bytes = new TextBytes();
    bytes.add('abc');
    bytes.cutTo(1);
    bytes.add('d');
    expect([...bytes.written()]).toEqual(utf8('ad'));
  });
});
