import { type ByteWindow, byteAt, findLineFeed, type Mark } from './byte-window.ts';
import { code, isBlank } from './json-bytes.ts';

/** No byte: the input is over. */
export const endOfInput = -1;

/** Where the reading stands. */
export interface Cursor {
  readonly window: ByteWindow;
  position: number;
  line: number;
  lineStart: number;
  /** Column of the first byte of this line that is not blank; 0 while none was met. */
  indent: number;
}

/** A place together with the indentation of its line. */
export interface LineMark extends Mark {
  readonly indent: number;
}

/**
 * A computation that may need more of the input: it yields the offset from which on the bytes must stay in the window, and
 * goes on once the window has grown or is complete.
 */
export type Reading<Result> = Generator<number, Result>;

export function createCursor(window: ByteWindow, position: number): Cursor {
  return { window, position, line: 1, lineStart: position, indent: 0 };
}

export function markHere({ position, line, lineStart, indent }: Cursor): LineMark {
  return { offset: position, line, column: position - lineStart + 1, indent };
}

/** Goes back to a place that the window still holds. */
export function returnTo(cursor: Cursor, mark: LineMark): void {
  cursor.position = mark.offset;
  cursor.line = mark.line;
  cursor.lineStart = mark.offset - mark.column + 1;
  cursor.indent = mark.indent;
}

/** Goes over blanks and line breaks to the next byte and returns it, or `endOfInput`. */
export function* toNextByte(cursor: Cursor, keepFrom?: number): Reading<number> {
  for (;;) {
    const byte = skipBlanks(cursor);
    if (byte !== endOfInput || cursor.window.isComplete) return byte;
    yield keepFrom ?? cursor.position;
  }
}

/** Goes to the line feed that ends this line, or to the end of the input. */
export function* toLineEnd(cursor: Cursor): Reading<void> {
  for (;;) {
    const feed = findLineFeed(cursor.window, cursor.position);
    cursor.position = feed === -1 ? cursor.window.end : feed;
    if (feed !== -1 || cursor.window.isComplete) return;
    yield cursor.position;
  }
}

/** Makes the window hold the next bytes, as far as there are any. */
export function* lookAhead(cursor: Cursor, sizeBytes: number): Reading<void> {
  while (cursor.window.end < cursor.position + sizeBytes && !cursor.window.isComplete) yield cursor.position;
}

function skipBlanks(cursor: Cursor): number {
  const { window } = cursor;
  for (;;) {
    const byte = byteAt(window, cursor.position);
    if (byte === code.lineFeed) {
      cursor.line += 1;
      cursor.lineStart = cursor.position + 1;
      cursor.indent = 0;
    } else if (byte === endOfInput) {
      return byte;
    } else if (!isBlank(byte)) {
      if (cursor.indent === 0) cursor.indent = cursor.position - cursor.lineStart + 1;
      return byte;
    }
    cursor.position += 1;
  }
}
