import { Buffer } from 'node:buffer';
import { escapeUnprintable } from '../../conversation/printable.ts';

/** The bytes that give JSON its structure. */
export const code = {
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const spaces = byteTable(' \t\r\n');
const blanks = byteTable(' \t\r\n\0');
const valueStarts = byteTable('{["-0123456789tfn');
const tokenEnds = byteTable('\0 \t\r\n,:{}[]"');
const continuations = byteTable(',:]}');

/** Whether JSON allows this byte between tokens. */
export function isSpace(byte: number): boolean {
  return spaces[byte] === 1;
}

/** Whether this is a space, or a NUL byte as a crash leaves them where a block of the file was never written. */
export function isBlank(byte: number): boolean {
  return blanks[byte] === 1;
}

/** Whether a JSON value can begin with this byte. */
export function startsValue(byte: number): boolean {
  return valueStarts[byte] === 1;
}

/** Whether a number or a literal is over at this byte. */
export function endsToken(byte: number): boolean {
  return tokenEnds[byte] === 1;
}

/** Whether this byte can only stand after the beginning of a value: a separator or a closing bracket. */
export function continuesValue(byte: number): boolean {
  return continuations[byte] === 1;
}

function byteTable(members: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(members, 'latin1')) table[byte] = 1;
  return table;
}

const longestQuoteCharacters = 24;

/** Enough bytes to describe what stands at a place, whatever script it is written in. */
export const describedBytes = 4 * longestQuoteCharacters;

const word = /^[\w.+-]+/;

/** The first characters of the bytes in quotes, at most 24 of them, without anything a terminal would act upon. */
export function quoteBytes(bytes: Uint8Array): string {
  const characters = [...decodeBeginning(bytes)];
  const shown = characters.slice(0, longestQuoteCharacters).join('');
  const rest = characters.length > longestQuoteCharacters ? '…' : '';
  return `'${escapeUnprintable(shown)}${rest}'`;
}

/** What stands at the beginning of the bytes: a word, a character, a byte that is no text, or the end. */
export function describeBytes(bytes: Uint8Array): string {
  const [first] = bytes;
  if (first === undefined) return 'the end';
  const text = decodeBeginning(bytes);
  if (first < 0x20 || first === 0x7f || text.startsWith('\ufffd')) {
    return `byte 0x${first.toString(16).padStart(2, '0')}`;
  }
  const [start] = word.exec(text) ?? [...text];
  return quoteBytes(Buffer.from(start ?? ''));
}

/** As much of the bytes as is ever shown, as text. */
export function decodeBeginning(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, describedBytes)).toString('utf8');
}
