import { Buffer } from 'node:buffer';
import { code, describeBytes, describedBytes, endsToken, isSpace, startsValue } from './json-bytes.ts';

/** What is said of a value that stops before its end. */
export const cutReason = 'ends in the middle of a value';

/** Where bytes stop being JSON, and why. */
interface JsonFault {
  readonly index: number;
  readonly reason: string;
}

type Expectation =
  | 'value'
  | 'elementOrClose'
  | 'key'
  | 'keyOrClose'
  | 'colon'
  | 'afterElement'
  | 'afterMember'
  | 'end';

interface GrammarRow {
  /** What messages say was expected. */
  readonly words: string;
  readonly takes?: 'value' | 'key';
  readonly separator?: number;
  readonly next?: Expectation;
  readonly closing?: number;
}

const { colon, comma, closeArray, closeObject } = code;

const grammar: Readonly<Record<Expectation, GrammarRow>> = {
  value: { words: 'a value', takes: 'value' },
  elementOrClose: { words: "a value or ']'", takes: 'value', closing: closeArray },
  key: { words: 'a key in double quotes', takes: 'key' },
  keyOrClose: { words: "a key in double quotes or '}'", takes: 'key', closing: closeObject },
  colon: { words: "':' after the key", separator: colon, next: 'value' },
  afterElement: { words: "',' or ']'", separator: comma, next: 'value', closing: closeArray },
  afterMember: { words: "',' or '}'", separator: comma, next: 'key', closing: closeObject },
  end: { words: 'the end' },
};

/** One step through the bytes: the index behind a token, or the fault in it. */
type Step = number | JsonFault;

interface Reading {
  readonly bytes: Uint8Array;
  index: number;
  expected: Expectation;
  /** The brackets that are open, as their first bytes. */
  readonly open: number[];
}

/**
 * The first place where the bytes are no JSON; undefined when they are one value or the beginning of one. Slower than a
 * parser, iterative and linear: it is for telling people what is wrong with a text that a parser has refused.
 */
export function findJsonFault(bytes: Uint8Array): JsonFault | undefined {
  const reading: Reading = { bytes, index: 0, expected: 'value', open: [] };
  for (;;) {
    while (isSpace(bytes[reading.index] ?? -1)) reading.index += 1;
    const byte = bytes[reading.index];
    if (byte === undefined) return undefined;
    const step = takeToken(reading, byte);
    if (typeof step !== 'number') return step;
    reading.index = step;
  }
}

function takeToken(reading: Reading, byte: number): Step {
  const row = grammar[reading.expected];
  if (byte === row.closing) return close(reading);
  if (byte === row.separator) return expect(reading, row.next ?? 'value');
  if (row.takes === 'key' && byte === code.quote) return takeString(reading, 'colon');
  if (row.takes === 'value' && startsValue(byte)) return takeValue(reading, byte);
  return unexpected(reading, reading.index);
}

function takeValue(reading: Reading, byte: number): Step {
  if (byte === code.quote) return takeString(reading, afterValue(reading));
  if (byte === code.openArray || byte === code.openObject) {
    reading.open.push(byte);
    return expect(reading, byte === code.openArray ? 'elementOrClose' : 'keyOrClose');
  }
  return takeLiteral(reading);
}

function expect(reading: Reading, next: Expectation): number {
  reading.expected = next;
  return reading.index + 1;
}

function close(reading: Reading): number {
  reading.open.pop();
  return expect(reading, afterValue(reading));
}

function afterValue({ open }: Reading): Expectation {
  const bracket = open.at(-1);
  if (bracket === undefined) return 'end';
  return bracket === code.openArray ? 'afterElement' : 'afterMember';
}

const shortEscapes = new Set(Buffer.from('"\\/bfnrt'));
const hexEscape = /^u[\da-fA-F]{4}/;
const hexEscapeBeginning = /^u[\da-fA-F]{0,3}$/;

function takeString(reading: Reading, next: Expectation): Step {
  const { bytes } = reading;
  let index = reading.index + 1;
  for (; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte === code.quote) {
      reading.expected = next;
      return index + 1;
    }
    if (byte < 0x20)
      return { index, reason: `unescaped ${describeBytes(bytes.subarray(index))} in a string` };
    if (byte !== code.backslash) continue;
    index += 1;
    if (!isEscape(bytes, index)) {
      return { index: index - 1, reason: 'a backslash in a string that begins no escape' };
    }
  }
  return index;
}

/** Whether an escape stands behind a backslash, or the beginning of one at the end of the bytes. */
function isEscape(bytes: Uint8Array, index: number): boolean {
  const byte = bytes[index];
  if (byte === undefined || shortEscapes.has(byte)) return true;
  const text = Buffer.from(bytes.subarray(index, index + 5)).toString('latin1');
  return hexEscape.test(text) || (index + 5 > bytes.length && hexEscapeBeginning.test(text));
}

const literals = ['true', 'false', 'null'];
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const numberBeginning = /^-$|^-?(?:0|[1-9]\d*)(?:\.\d*)?$|^-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?\d*$/;

function takeLiteral(reading: Reading): Step {
  const { bytes, index } = reading;
  let end = index;
  while (end < bytes.length && !endsToken(bytes[end] ?? 0)) end += 1;
  const text = Buffer.from(bytes.subarray(index, end)).toString('latin1');
  const isWhole = literals.includes(text) || number.test(text);
  const isCut =
    end === bytes.length &&
    (literals.some((literal) => literal.startsWith(text)) || numberBeginning.test(text));
  if (!isWhole && !isCut) return unexpected(reading, index);
  reading.expected = afterValue(reading);
  return end;
}

function unexpected({ bytes, expected }: Reading, index: number): JsonFault {
  const found = describeBytes(bytes.subarray(index, index + describedBytes));
  return { index, reason: `expected ${grammar[expected].words}, found ${found}` };
}
