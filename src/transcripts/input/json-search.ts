import { Buffer } from 'node:buffer';
import { code, continuesValue, endsToken, isBlank } from './json-bytes.ts';

/** Instead of a byte: there is nothing more. */
export const nothing = -1;

/** A place in the input. Line and column count from 1; columns count bytes. */
export interface Mark {
  /** In the whole input. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  /** Column of the first byte on the line that is not blank. */
  readonly indent: number;
}

/** Where the reading stands. Offsets are those of the whole input, of which `bytes` is a part. */
export interface Cursor {
  bytes: Buffer;
  /** Offset of the first of the bytes. */
  base: number;
  offset: number;
  line: number;
  /** Offset of the first byte of this line. */
  lineStart: number;
  /** Column of the first byte of this line that is not blank; 0 while none was met. */
  indent: number;
  /** The line break found last, and from where on it is the next one: a long line is searched for its end only once. */
  readonly lineBreak: { from: number; to: number };
}

/**
 * Where a value may go on behind a line break.
 *
 * - `grammar`: wherever JSON allows a line break.
 * - `layout`: only on a line that is indented deeper than the line the value began on, or that begins with a separator or
 *   a closing bracket, as in pretty-printed JSON. A line of JSON Lines is neither.
 */
type LineBreakRule = 'grammar' | 'layout';

/** What was found of a value. */
export interface Found {
  readonly start: Mark;
  /** Behind it, or at the line break or the end of the bytes where it stops. */
  readonly end: Mark;
  /** `broken`: the next line does not go on with it. `unfinished`: the bytes at hand are over. */
  readonly state: 'whole' | 'broken' | 'unfinished';
  /** How many brackets were open at once; 0 for a value that is no array or object. */
  readonly depth: number;
  /** Whether it stops inside a string. */
  readonly isInString: boolean;
}

/** A cursor at the beginning of an input, whose first byte has this offset. */
export function createCursor(offset: number): Cursor {
  return {
    bytes: Buffer.alloc(0),
    base: offset,
    offset,
    line: 1,
    lineStart: offset,
    indent: 0,
    lineBreak: { from: Infinity, to: 0 },
  };
}

/** Puts the bytes that begin at the cursor in the place of those at hand. */
export function takeBytes(cursor: Cursor, bytes: Buffer): void {
  cursor.bytes = bytes;
  cursor.base = cursor.offset;
  cursor.lineBreak.from = Infinity;
}

export function markHere({ offset, line, lineStart, indent }: Cursor): Mark {
  return { offset, line, column: offset - lineStart + 1, indent };
}

/** Goes back to a mark in the bytes at hand. */
export function returnTo(cursor: Cursor, { offset, line, column, indent }: Mark): void {
  cursor.offset = offset;
  cursor.line = line;
  cursor.lineStart = offset - column + 1;
  cursor.indent = indent;
}

/** Goes over blanks and line breaks to the next byte and returns it, or `nothing`. */
export function toNextByte(cursor: Cursor): number {
  const { bytes, base } = cursor;
  for (; cursor.offset < base + bytes.length; cursor.offset += 1) {
    const byte = bytes[cursor.offset - base] ?? 0;
    if (byte === code.lineFeed) {
      cursor.line += 1;
      cursor.lineStart = cursor.offset + 1;
      cursor.indent = 0;
    } else if (!isBlank(byte)) {
      if (cursor.indent === 0) cursor.indent = cursor.offset - cursor.lineStart + 1;
      return byte;
    }
  }
  return nothing;
}

/** Offset of the first line break at or behind this one, or of the end of the bytes at hand. */
export function lineEndFrom({ bytes, base, lineBreak }: Cursor, offset: number): number {
  if (offset >= lineBreak.from && offset <= lineBreak.to) return lineBreak.to;
  const index = bytes.indexOf(code.lineFeed, offset - base);
  lineBreak.from = offset;
  lineBreak.to = base + (index === -1 ? bytes.length : index);
  return lineBreak.to;
}

/** A view of the bytes from one offset to another. */
export function viewBytes({ bytes, base }: Cursor, start: number, end: number): Buffer {
  return bytes.subarray(start - base, end - base);
}

/** The mark of a later offset, counted on from the mark of an earlier one. */
export function markFrom(cursor: Cursor, start: Mark, offset: number): Mark {
  let { line } = start;
  let lineStart = start.offset - start.column + 1;
  for (let end = lineEndFrom(cursor, start.offset); end < offset; end = lineEndFrom(cursor, lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return { offset, line, column: offset - lineStart + 1, indent: start.indent };
}

/**
 * Finds the end of the value at the cursor by its brackets and quotes, and goes there. Whether it is valid is for the parser
 * to say.
 */
export function searchValue(cursor: Cursor, rule: LineBreakRule): Found {
  const { bytes, base, indent } = cursor;
  const first = bytes[cursor.offset - base] ?? 0;
  if (first !== code.quote && first !== code.openArray && first !== code.openObject) {
    return searchToken(cursor);
  }
  const start = markHere(cursor);
  const scan: Scan = { depth: 0, deepest: 0, isInString: false };
  for (;;) {
    const lineEnd = lineEndFrom(cursor, cursor.offset);
    const isWhole = scanLine(scan, cursor, lineEnd);
    const end = markHere(cursor);
    const next = isWhole ? nothing : toNextByte(cursor);
    if (next !== nothing && !scan.isInString && goesOn(cursor, { rule, indent, next, lineEnd })) continue;
    returnTo(cursor, end);
    const state = isWhole ? 'whole' : next === nothing ? 'unfinished' : 'broken';
    return { start, end, state, depth: scan.deepest, isInString: scan.isInString };
  }
}

/** A number or a literal ends where something else begins. */
function searchToken(cursor: Cursor): Found {
  const { bytes, base } = cursor;
  const start = markHere(cursor);
  let index = cursor.offset - base;
  while (index < bytes.length && !endsToken(bytes[index] ?? 0)) index += 1;
  cursor.offset = base + index;
  return { start, end: markHere(cursor), state: 'whole', depth: 0, isInString: false };
}

interface Scan {
  depth: number;
  deepest: number;
  /** Whether the line ended before the string on it did. */
  isInString: boolean;
}

/** Goes to the end of the value, or of the line, and says whether it is the end of the value. */
function scanLine(scan: Scan, cursor: Cursor, end: number): boolean {
  const { bytes, base } = cursor;
  const endIndex = end - base;
  let index = cursor.offset - base;
  while (index < endIndex) {
    const byte = bytes[index];
    index += 1;
    if (byte === code.quote) {
      index = behindString(bytes, index, endIndex);
      scan.isInString = index > endIndex;
    } else if (byte === code.openObject || byte === code.openArray) {
      scan.depth += 1;
      if (scan.depth > scan.deepest) scan.deepest = scan.depth;
    } else if (byte === code.closeObject || byte === code.closeArray) scan.depth -= 1;
    else continue;
    if (scan.depth === 0 && !scan.isInString) {
      cursor.offset = base + index;
      return true;
    }
  }
  cursor.offset = end;
  return false;
}

/** How far the end of a string is looked for byte by byte: most strings are short, and a native search costs a call. */
const shortStringBytes = 32;

/** The index behind the closing quote; behind `end` when there is none before it. */
function behindString(bytes: Buffer, from: number, end: number): number {
  let index = from;
  for (const near = Math.min(end, from + shortStringBytes); index < near; index += 1) {
    const byte = bytes[index];
    if (byte === code.quote) return index + 1;
    if (byte === code.backslash) index += 1;
  }
  let quote = bytes.indexOf(code.quote, index);
  while (quote !== -1 && quote < end && isEscaped(bytes, quote, index))
    quote = bytes.indexOf(code.quote, quote + 1);
  return quote === -1 || quote >= end ? end + 1 : quote + 1;
}

/** Whether an odd number of backslashes stands before the quote. */
function isEscaped(bytes: Buffer, quote: number, from: number): boolean {
  let index = quote;
  while (index > from && bytes[index - 1] === code.backslash) index -= 1;
  return (quote - index) % 2 === 1;
}

interface LineBreak {
  readonly rule: LineBreakRule;
  /** Of the line the value began on. */
  readonly indent: number;
  /** The first byte behind the line break, where the cursor stands. */
  readonly next: number;
  /** Offset of the line break. */
  readonly lineEnd: number;
}

function goesOn(cursor: Cursor, { rule, indent, next, lineEnd }: LineBreak): boolean {
  if (continuesValue(next)) return true;
  return rule === 'layout' ? cursor.indent > indent : opensOrSeparates(lastByteBefore(cursor, lineEnd));
}

function lastByteBefore({ bytes, base }: Cursor, end: number): number {
  let index = end - base - 1;
  while (index >= 0 && isBlank(bytes[index] ?? 0)) index -= 1;
  return bytes[index] ?? nothing;
}

function opensOrSeparates(byte: number): boolean {
  return byte === code.openArray || byte === code.openObject || byte === code.comma || byte === code.colon;
}
