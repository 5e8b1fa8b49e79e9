import type { Buffer } from 'node:buffer';
import { code, continuesValue, startsValue } from './json-bytes.ts';
import { cutReason } from './json-fault.ts';
import {
  explainFault,
  type FaultPiece,
  type Limits,
  type Piece,
  readValue,
  unexpected,
} from './json-pieces.ts';
import {
  type Cursor,
  createCursor,
  type Found,
  lineEndFrom,
  type Mark,
  markHere,
  nothing,
  returnTo,
  searchValue,
  takeBytes,
  toNextByte,
} from './json-search.ts';

/** How far the splitting has come. */
export interface SplitState {
  readonly limits: Limits;
  readonly cursor: Cursor;
  /** Whether no lines follow those at hand. */
  isLast: boolean;
  /**
   * How the input is laid out, known from its first value. `lines`: that value ended on the line it began on, so a line
   * break ends every value that is not indented like pretty-printed JSON. `documents`: values may go over lines.
   */
  layout: 'undecided' | 'lines' | 'documents';
  /** How many top-level values and faults came before. */
  document: number;
  /** Values that begin before this offset are searched by layout: a search by grammar has failed here already. */
  strictUntil: number;
  /** Set behind a broken value: lines that are indented deeper belong to it. */
  skippedIndent: number | undefined;
  /** The top-level array whose elements are being read. */
  array: OpenArray | undefined;
}

interface OpenArray {
  readonly start: Mark;
  /** What came last: the opening bracket, a comma, or an element or a fault. */
  last: 'bracket' | 'comma' | 'other';
  /** Right behind that. */
  behind: Mark;
}

/** The state at the beginning of an input, whose first byte has this offset. */
export function beginSplitting(limits: Limits, offset: number): SplitState {
  return {
    limits,
    cursor: createCursor(offset),
    isLast: false,
    layout: 'undecided',
    document: 0,
    strictUntil: 0,
    skippedIndent: undefined,
    array: undefined,
  };
}

/**
 * Splits whole lines, which begin where the cursor stands, into JSON values and faults. A value that may go on in lines to
 * come is left, with the cursor in front of it, to be given again together with them. `isLast` says that there are none.
 */
export function* splitJson(state: SplitState, lines: Buffer, isLast: boolean): Generator<Piece, void> {
  const { cursor } = state;
  takeBytes(cursor, lines);
  state.isLast = isLast;
  for (;;) {
    const byte = toNextByte(cursor);
    if (byte === nothing) break;
    if (isSkipped(state, byte)) {
      cursor.offset = lineEndFrom(cursor, cursor.offset);
      continue;
    }
    const start = markHere(cursor);
    const isTaken =
      state.array === undefined
        ? yield* takeDocument(state, byte)
        : yield* takeElement(state, state.array, byte);
    if (isTaken) continue;
    returnTo(cursor, start);
    return;
  }
  if (isLast && state.array !== undefined && state.skippedIndent === undefined) {
    yield { reason: cutReason, at: state.array.behind, isElement: false };
  }
}

/** Behind a broken value: whether the line at the cursor belongs to it. */
function isSkipped(state: SplitState, byte: number): boolean {
  const { cursor, skippedIndent, array, layout } = state;
  if (skippedIndent === undefined) return false;
  const isDeeper = cursor.indent > skippedIndent;
  if (array === undefined) {
    // Among documents only a bracket is trusted to begin the next one.
    const isOpening = byte === code.openArray || byte === code.openObject;
    if (isDeeper || (layout === 'documents' ? !isOpening : continuesValue(byte))) return true;
  } else {
    const isEnd = cursor.indent < skippedIndent || cursor.indent <= array.start.indent;
    if (byte === code.closeArray ? !isEnd : isDeeper || !startsValue(byte)) return true;
    array.last = 'other';
    array.behind = markHere(cursor);
  }
  state.skippedIndent = undefined;
  return false;
}

/** Takes the top-level value at the cursor, of an array the opening bracket. False when it may go on in lines to come. */
function* takeDocument(state: SplitState, byte: number): Generator<Piece, boolean> {
  const { cursor } = state;
  const start = markHere(cursor);
  if (byte === code.openArray) {
    cursor.offset += 1;
    state.array = { start, last: 'bracket', behind: markHere(cursor) };
    return true;
  }
  if (!startsValue(byte)) {
    yield unexpected(cursor, 'a value');
    skipRest(state, start.indent);
    return true;
  }
  const found = searchHere(state);
  if (found.state === 'unfinished' && !state.isLast) return false;
  if (found.state !== 'whole') {
    yield explainFault(cursor, found);
    skipRest(state, start.indent);
    return true;
  }
  settle(state, cursor.line === start.line ? 'lines' : 'documents');
  if (found.depth === 0 && hasLostItsBeginning(cursor)) {
    yield unexpected(cursor, 'the end of the line');
    skipRest(state, start.indent);
    return true;
  }
  yield readValue(cursor, found, { ...state, kind: 'document' });
  state.document += 1;
  return true;
}

function settle(state: SplitState, layout: 'lines' | 'documents'): void {
  if (state.layout === 'undecided') state.layout = layout;
}

/** Leaves the rest of the line behind a top-level fault, and the lines that belong to it. */
function skipRest(state: SplitState, indent: number): void {
  const { cursor } = state;
  settle(state, 'lines');
  state.array = undefined;
  state.document += 1;
  state.skippedIndent = indent;
  cursor.offset = lineEndFrom(cursor, cursor.offset);
}

/** Goes to what stands behind a string or number, and says whether that makes it a key or element of something lost. */
function hasLostItsBeginning(cursor: Cursor): boolean {
  const behind = markHere(cursor);
  const next = toNextByte(cursor);
  if (cursor.line === behind.line && continuesValue(next)) return true;
  returnTo(cursor, behind);
  return false;
}

/**
 * Finds the end of the value at the cursor. A search by grammar that fails may have run on from a value that was cut at the
 * end of its line into the next values: it is done again by layout. No byte is searched twice by grammar: it stays linear.
 */
function searchHere(state: SplitState): Found {
  const { cursor } = state;
  if (isStrict(state)) return searchValue(cursor, 'layout');
  const start = markHere(cursor);
  const found = searchValue(cursor, 'grammar');
  if (found.state === 'whole' || (found.state === 'unfinished' && !state.isLast)) return found;
  state.strictUntil = cursor.offset;
  returnTo(cursor, start);
  return searchValue(cursor, 'layout');
}

/** Whether line breaks end values at the cursor. */
function isStrict({ layout, strictUntil, cursor }: SplitState): boolean {
  return layout === 'lines' || cursor.offset < strictUntil;
}

/** Takes the element at the cursor with the comma behind it, or the closing bracket. False as in `takeDocument`. */
function* takeElement(state: SplitState, array: OpenArray, byte: number): Generator<Piece, boolean> {
  const { cursor } = state;
  const start = markHere(cursor);
  if (isCutBefore(state, array, byte)) {
    yield giveUpArray(state, array.behind);
    return true;
  }
  if (byte === code.closeArray) {
    if (array.last === 'comma') yield unexpected(cursor, 'a value');
    if (array.last === 'bracket') {
      yield { value: [], at: array.start, kind: 'document', document: state.document };
    }
    closeArray(state, array);
    return true;
  }
  if (!startsValue(byte)) {
    yield unexpected(cursor, 'a value');
    skipElement(state, array, start.indent);
    return true;
  }
  const found = searchHere(state);
  const isWhole = found.state === 'whole';
  const next = isWhole ? toNextByte(cursor) : nothing;
  if (!state.isLast && next === nothing && found.state !== 'broken') return false;
  const isSeparated = next === code.comma || next === code.closeArray;
  const isOnLaterLine = start.line > array.start.line;
  if (!isSeparated && isOnLaterLine && state.layout === 'undecided') {
    // Nothing in this array has spanned a line break yet: it was cut at the end of its line, and this line is on its own.
    returnTo(cursor, start);
    yield giveUpArray(state, array.behind);
  } else if (isWhole) {
    yield readValue(cursor, found, { ...state, kind: 'element' });
    if (isSeparated && isOnLaterLine) settle(state, 'documents');
    yield* takeSeparator(state, array, found.end);
  } else {
    yield explainFault(cursor, found);
    skipElement(state, array, start.indent);
  }
  return true;
}

/** Whether the array was cut at the end of the line before the cursor. */
function isCutBefore(state: SplitState, { start, behind }: OpenArray, byte: number): boolean {
  const { cursor } = state;
  if (cursor.line === behind.line) return false;
  const isIndented = cursor.indent > start.indent;
  if (isIndented) settle(state, 'documents');
  return !isIndented && !continuesValue(byte) && isStrict(state);
}

function giveUpArray(state: SplitState, at: Mark): FaultPiece {
  settle(state, 'lines');
  state.array = undefined;
  state.document += 1;
  return { reason: cutReason, at, isElement: false };
}

function closeArray(state: SplitState, { start }: OpenArray): void {
  const { cursor } = state;
  cursor.offset += 1;
  settle(state, cursor.line === start.line ? 'lines' : 'documents');
  state.array = undefined;
  state.document += 1;
}

/** Goes on behind an element: over a comma or the closing bracket, or to where the array can be read on without one. */
function* takeSeparator(state: SplitState, array: OpenArray, behind: Mark): Generator<Piece, void> {
  const { cursor } = state;
  const byte = toNextByte(cursor);
  array.last = 'other';
  array.behind = behind;
  if (byte === code.closeArray) {
    closeArray(state, array);
    return;
  }
  if (byte === code.comma) {
    cursor.offset += 1;
    array.last = 'comma';
    array.behind = markHere(cursor);
    return;
  }
  const isOnNextLine = cursor.line > behind.line && startsValue(byte);
  if (byte === nothing || (isOnNextLine && cursor.indent <= array.start.indent)) {
    yield giveUpArray(state, behind);
    return;
  }
  yield unexpected(cursor, "',' or ']'");
  settle(state, 'lines');
  if (isOnNextLine && state.layout === 'documents') array.behind = markHere(cursor);
  else skipElement(state, array, behind.indent);
}

/** Leaves the rest of a broken element; where every line is on its own, the rest of the array. */
function skipElement(state: SplitState, { start }: OpenArray, indent: number): void {
  const { cursor } = state;
  settle(state, 'lines');
  if (state.layout === 'lines') {
    skipRest(state, start.indent);
    return;
  }
  state.skippedIndent = indent;
  cursor.offset = lineEndFrom(cursor, cursor.offset);
}
