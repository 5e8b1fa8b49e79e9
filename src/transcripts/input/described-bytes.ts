import { Buffer } from 'node:buffer';
import { escapeUnprintable } from '../../conversation/printable.ts';

const longestQuoteCharacters = 24;

/** Enough bytes to describe what stands at a place, whatever script it is written in. */
export const describedBytes = 4 * longestQuoteCharacters;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const binaryControl = /[\0-\x08\x0e-\x1a\x7f]/;
const word = /^[\w.+-]+/;

/** The first characters of the bytes in quotes, at most 24 of them, without anything a terminal would act upon. */
export function quoteBytes(bytes: Uint8Array): string {
  const characters = [...decode(bytes)];
  const shown = characters.slice(0, longestQuoteCharacters).join('');
  const rest = characters.length > longestQuoteCharacters ? '…' : '';
  return `'${escapeUnprintable(shown)}${rest}'`;
}

/** What stands at the beginning of the bytes: a word, a character, a byte that is no text, or the end. */
export function describeBytes(bytes: Uint8Array): string {
  const [first] = bytes;
  if (first === undefined) return 'the end';
  const text = decode(bytes);
  if (first < 0x20 || first === 0x7f || text.startsWith('\ufffd')) {
    return `byte 0x${first.toString(16).padStart(2, '0')}`;
  }
  const [start] = word.exec(text) ?? [...text];
  return quoteBytes(Buffer.from(start ?? ''));
}

/** The index of the first byte that is no UTF-8 text, or a control character that text does not use; -1 for plain text. */
export function findBinary(bytes: Uint8Array): number {
  let index = 0;
  for (const character of decode(bytes)) {
    // The last character may have been cut in two.
    if (character === '\ufffd') return index + 3 < bytes.length ? index : -1;
    if (binaryControl.test(character)) return index;
    index += Buffer.byteLength(character);
  }
  return -1;
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, describedBytes)).toString('utf8');
}
