import { splitArray } from './array-splitter.ts';
import type { ByteWindow } from './byte-window.ts';
import { code, continuesValue, startsValue } from './json-bytes.ts';
import { createCursor, endOfInput, markHere, toNextByte } from './json-cursor.ts';
import {
  type Piece,
  reportUnexpected,
  resume,
  type SplitState,
  type Splitting,
  searchHere,
  settle,
} from './splitting.ts';
import { explainBreak } from './value-search.ts';

/** Where to begin, and the size from which on a value is passed over instead of kept. */
interface SplitOptions {
  readonly offset: number;
  readonly maximumValueBytes: number;
}

/**
 * Splits a stream of bytes into JSON values and faults. Yields a number when it needs more bytes: then append a chunk to
 * the window, keeping what stands from that offset on, or declare the window complete. Keeps no more than one value.
 */
export function* splitJson(
  window: ByteWindow,
  { offset, maximumValueBytes }: SplitOptions,
): Generator<Piece | number, void> {
  const cursor = createCursor(window, offset);
  const state: SplitState = { cursor, maximumValueBytes, layout: 'undecided', document: 0, strictUntil: 0 };
  for (; ; state.document += 1) {
    const byte = yield* toNextByte(cursor);
    if (byte === endOfInput) return;
    if (byte === code.openArray) yield* splitArray(state);
    else if (startsValue(byte)) yield* splitDocument(state);
    else {
      yield* reportUnexpected(state, 'a value');
      yield* resume(state, cursor.indent);
    }
  }
}

function* splitDocument(state: SplitState): Splitting<void> {
  const { cursor } = state;
  const search = yield* searchHere(state);
  const { start, scan } = search;
  if (!search.isComplete) {
    settle(state, 'lines');
    yield { type: 'fault', fault: explainBreak(cursor, search) };
    yield* resume(state, start.indent);
    return;
  }
  settle(state, cursor.line === start.line ? 'lines' : 'documents');
  if (scan.deepest === 0) {
    // A string before a colon is a key: this line has lost its beginning, and what is left of it is no value.
    const { line } = markHere(cursor);
    const next = yield* toNextByte(cursor, search.isForgotten ? undefined : start.offset);
    if (cursor.line === line && continuesValue(next)) {
      yield* reportUnexpected(state, 'the end of the line');
      yield* resume(state, start.indent);
      return;
    }
  }
  yield { type: 'value', kind: 'document', search, document: state.document };
}
