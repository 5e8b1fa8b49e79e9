import { code, continuesValue, startsValue } from './json-bytes.ts';
import { endOfInput, type LineMark, markHere, returnTo, toLineEnd, toNextByte } from './json-cursor.ts';
import {
  isStrict,
  reportUnexpected,
  resume,
  type SplitState,
  type Splitting,
  searchHere,
  settle,
} from './splitting.ts';
import { cutReason, explainBreak } from './value-search.ts';

/**
 * - `opened`, `separated`: behind the opening bracket, behind a comma
 * - `resumed`: on a line where an element can begin again after a fault
 * - `left`: behind the array, or where it was given up
 */
type ArrayState = 'opened' | 'separated' | 'resumed' | 'left';

interface OpenArray {
  readonly opened: LineMark;
  readonly state: ArrayState;
  /** Right behind the last bracket, comma or element. */
  readonly behind: LineMark;
}

/** Yields the elements of the array at the cursor one by one, each as soon as the separator behind it was seen. */
export function* splitArray(state: SplitState): Splitting<void> {
  const { cursor } = state;
  const opened = markHere(cursor);
  cursor.position += 1;
  let arrayState: ArrayState = 'opened';
  while (arrayState !== 'left') {
    arrayState = yield* takeStep(state, { opened, state: arrayState, behind: markHere(cursor) });
  }
}

function* takeStep(state: SplitState, array: OpenArray): Splitting<ArrayState> {
  const byte = yield* toNextByte(state.cursor);
  if (isBorder(state, array, byte)) return yield* giveUp(state, array.behind);
  if (byte === code.closeArray) return yield* closeArray(state, array);
  if (startsValue(byte)) return yield* takeElement(state, array);
  yield* reportUnexpected(state, 'a value');
  return yield* resumeElements(state, array, state.cursor.indent);
}

/** Whether the array was cut at the end of the line before the cursor. */
function isBorder(state: SplitState, { opened, behind }: OpenArray, byte: number): boolean {
  const { cursor } = state;
  if (byte === endOfInput) return true;
  if (cursor.line === behind.line) return false;
  const isIndented = cursor.indent > opened.indent;
  if (isIndented) settle(state, 'documents');
  return isStrict(state, cursor.position) && !isIndented && !continuesValue(byte);
}

function* giveUp(state: SplitState, at: LineMark): Splitting<'left'> {
  settle(state, 'lines');
  yield { type: 'fault', fault: { at, reason: cutReason } };
  return 'left';
}

function* closeArray(state: SplitState, array: OpenArray): Splitting<'left'> {
  if (array.state === 'opened') {
    yield { type: 'empty-array', start: array.opened, document: state.document };
  }
  if (array.state === 'separated') yield* reportUnexpected(state, 'a value');
  return leave(state, array);
}

function leave(state: SplitState, { opened }: OpenArray): 'left' {
  state.cursor.position += 1;
  settle(state, state.cursor.line === opened.line ? 'lines' : 'documents');
  return 'left';
}

function* takeElement(state: SplitState, array: OpenArray): Splitting<ArrayState> {
  const { cursor } = state;
  const search = yield* searchHere(state);
  const { start, isForgotten } = search;
  const behind = markHere(cursor);
  const next = search.isComplete
    ? yield* toNextByte(cursor, isForgotten ? undefined : start.offset)
    : endOfInput;
  const isSeparated = next === code.comma || next === code.closeArray;
  const isOnLaterLine = start.line > array.opened.line;
  if (!isSeparated && isOnLaterLine && state.layout === 'undecided' && !isForgotten) {
    // Nothing in this array has spanned a line break yet: it was cut at the end of its line, and the next line is on its own.
    returnTo(cursor, start);
    return yield* giveUp(state, array.behind);
  }
  if (!search.isComplete) {
    settle(state, 'lines');
    yield { type: 'fault', fault: explainBreak(cursor, search) };
    return yield* resumeElements(state, array, start.indent);
  }
  yield { type: 'value', kind: 'element', search, document: state.document };
  if (!isSeparated) return yield* missSeparator(state, { ...array, behind }, next);
  if (isOnLaterLine) settle(state, 'documents');
  if (next === code.closeArray) return leave(state, array);
  cursor.position += 1;
  return 'separated';
}

function* missSeparator(state: SplitState, array: OpenArray, byte: number): Splitting<ArrayState> {
  const { cursor } = state;
  const isOnNextLine = cursor.line > array.behind.line && startsValue(byte);
  const isIndented = cursor.indent > array.opened.indent;
  if (byte === endOfInput || (isOnNextLine && !isIndented)) return yield* giveUp(state, array.behind);
  yield* reportUnexpected(state, "',' or ']'");
  if (isOnNextLine && state.layout === 'documents') return 'resumed';
  return yield* resumeElements(state, array, array.behind.indent);
}

/** Goes to the next line where an element can begin or the array can end; in lines, to the next value behind the array. */
function* resumeElements(state: SplitState, { opened }: OpenArray, indent: number): Splitting<ArrayState> {
  const { cursor } = state;
  if (state.layout === 'lines') {
    yield* resume(state, opened.indent);
    return 'left';
  }
  for (;;) {
    yield* toLineEnd(cursor);
    const byte = yield* toNextByte(cursor);
    if (byte === endOfInput) return 'left';
    if (startsValue(byte) && cursor.indent <= indent) return 'resumed';
    if (byte === code.closeArray && (cursor.indent < indent || cursor.indent <= opened.indent))
      return 'resumed';
  }
}
