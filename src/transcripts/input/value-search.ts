import { byteAt, type Mark, markFrom, viewBytes } from './byte-window.ts';
import { code, continuesValue, isBlank } from './json-bytes.ts';
import {
  type Cursor,
  endOfInput,
  type LineMark,
  markHere,
  type Reading,
  returnTo,
  toNextByte,
} from './json-cursor.ts';
import { findJsonFault } from './json-fault.ts';
import { advanceScan, beginScan, type ValueScan } from './json-scanner.ts';

/**
 * When a value may go on behind a line break.
 *
 * - `layout`: when the next line is indented deeper than the line the value began on, or begins with a separator or a
 *   closing bracket, as in pretty-printed JSON. A line of JSON Lines is neither.
 * - `grammar`: wherever JSON allows a line break.
 */
type LineBreakRule = 'layout' | 'grammar';

/** What was found of one value. The cursor stands behind it, or where it broke off. */
export interface ValueSearch {
  readonly start: LineMark;
  readonly scan: ValueScan;
  /** False when the value breaks off at the cursor: at a line break or at the end of the input. */
  readonly isComplete: boolean;
  /** Whether the value was larger than the window may become, so that its bytes are gone. */
  readonly isForgotten: boolean;
}

/** A piece of the input that is no JSON. */
export interface Fault {
  readonly at: Mark;
  readonly reason: string;
}

/** What is said of a value that stops before its end. */
export const cutReason = 'ends in the middle of a value';

/** Finds the end of the value that begins at the cursor. Values beyond `maximumBytes` are passed over, not kept. */
export function* searchValue(
  cursor: Cursor,
  start: LineMark,
  settings: SearchSettings,
): Reading<ValueSearch> {
  const { window } = cursor;
  const scan = beginScan(start.offset, byteAt(window, start.offset));
  let isForgotten = false;
  for (;;) {
    const stop = advanceScan(scan, window);
    cursor.position = scan.position;
    if (stop === 'end') return { start, scan, isComplete: true, isForgotten };
    if (stop === 'line-break') {
      const keepFrom = isForgotten ? scan.position : start.offset;
      if (!(yield* crossLineBreak(cursor, scan, { start, keepFrom, rule: settings.rule }))) {
        return { start, scan, isComplete: false, isForgotten };
      }
      continue;
    }
    if (window.isComplete) return { start, scan, isComplete: scan.isToken, isForgotten };
    isForgotten ||= scan.position - start.offset > settings.maximumBytes;
    yield isForgotten ? forget(cursor, scan) : start.offset;
  }
}

interface SearchSettings {
  readonly rule: LineBreakRule;
  readonly maximumBytes: number;
}

/** Where and why a value that is not complete broke off. Looks for an earlier fault while its bytes are there. */
export function explainBreak(cursor: Cursor, search: ValueSearch): Fault {
  const { start, scan, isForgotten } = search;
  const { window } = cursor;
  const here: Mark = {
    offset: scan.position,
    line: cursor.line,
    column: scan.position - cursor.lineStart + 1,
  };
  if (isForgotten) return { at: here, reason: cutReason };
  const bytes = trimEnd(viewBytes(window, start.offset, scan.position));
  const fault = findJsonFault(bytes);
  if (fault !== undefined) {
    return { at: markFrom(window, start, start.offset + fault.index), reason: fault.reason };
  }
  if (scan.stringStart !== -1 && cursor.line !== start.line && scan.position < window.end) {
    return { at: here, reason: 'a line break inside a string' };
  }
  return { at: markFrom(window, start, start.offset + bytes.length), reason: cutReason };
}

/** Why bytes that end where a value should end are no valid JSON. */
export function explainInvalid(bytes: Uint8Array): { readonly index: number; readonly reason: string } {
  return findJsonFault(bytes) ?? { index: bytes.length, reason: cutReason };
}

interface Crossing {
  readonly start: LineMark;
  readonly keepFrom: number;
  readonly rule: LineBreakRule;
}

/** Moves the cursor and the scan over a line break when the value may go on behind it; else leaves both where they are. */
function* crossLineBreak(
  cursor: Cursor,
  scan: ValueScan,
  { start, keepFrom, rule }: Crossing,
): Reading<boolean> {
  if (scan.stringStart !== -1) return false;
  const here = markHere(cursor);
  const before = lastByteBefore(cursor, Math.max(start.offset, cursor.lineStart, keepFrom));
  const byte = yield* toNextByte(cursor, keepFrom);
  const goesOn =
    byte !== endOfInput &&
    (continuesValue(byte) || (rule === 'layout' ? cursor.indent > start.indent : opensOrSeparates(before)));
  if (goesOn) scan.position = cursor.position;
  else returnTo(cursor, here);
  return goesOn;
}

function lastByteBefore({ window, position }: Cursor, first: number): number {
  let offset = position - 1;
  while (offset >= first && isBlank(byteAt(window, offset))) offset -= 1;
  return offset >= first ? byteAt(window, offset) : endOfInput;
}

function opensOrSeparates(byte: number): boolean {
  return byte === code.openArray || byte === code.openObject || byte === code.comma || byte === code.colon;
}

/** Lets go of what was scanned, except for a backslash that belongs to the next byte. */
function forget(cursor: Cursor, scan: ValueScan): number {
  if (scan.stringStart === -1) return scan.position;
  let offset = scan.position - 1;
  while (offset >= scan.stringStart && byteAt(cursor.window, offset) === code.backslash) offset -= 1;
  const isEscaping = (scan.position - offset) % 2 === 0;
  scan.stringStart = isEscaping ? scan.position - 1 : scan.position;
  return scan.stringStart;
}

function trimEnd(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  while (length > 0 && isBlank(bytes[length - 1] ?? 0)) length -= 1;
  return bytes.subarray(0, length);
}
