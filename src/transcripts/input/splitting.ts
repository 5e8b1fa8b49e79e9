import { type Mark, viewBytes } from './byte-window.ts';
import { describeBytes, describedBytes } from './described-bytes.ts';
import { code, continuesValue } from './json-bytes.ts';
import {
  type Cursor,
  endOfInput,
  lookAhead,
  markHere,
  type Reading,
  returnTo,
  toLineEnd,
  toNextByte,
} from './json-cursor.ts';
import { type Fault, searchValue, type ValueSearch } from './value-search.ts';

/** What a stretch of the input turned out to be. Its bytes are in the window until the next piece is asked for. */
export type Piece =
  | {
      readonly type: 'value';
      readonly kind: 'document' | 'element';
      readonly search: ValueSearch;
      readonly document: number;
    }
  | { readonly type: 'empty-array'; readonly start: Mark; readonly document: number }
  | { readonly type: 'fault'; readonly fault: Fault };

/** Like `Reading`, with pieces between the requests for more bytes. */
export type Splitting<Result> = Generator<Piece | number, Result>;

/**
 * How the input is laid out, known from its first value.
 *
 * - `lines`: that value ended on the line it began on, so a line break ends every value, except where the text is indented
 * - `documents`: it went over several lines, so values may go on wherever the grammar allows it
 */
type Layout = 'undecided' | 'lines' | 'documents';

/** The state that the splitting of documents and of arrays share. */
export interface SplitState {
  readonly cursor: Cursor;
  readonly maximumValueBytes: number;
  layout: Layout;
  /** How many top-level values were begun before the one at hand. */
  document: number;
  /** Values that begin before this offset are searched by layout: a search by grammar has failed here already. */
  strictUntil: number;
}

/** Decides the layout, if that has not happened yet. */
export function settle(state: SplitState, layout: 'lines' | 'documents'): void {
  if (state.layout === 'undecided') state.layout = layout;
}

/** Whether line breaks end values here. */
export function isStrict({ layout, strictUntil }: SplitState, offset: number): boolean {
  return layout === 'lines' || offset < strictUntil;
}

/**
 * Finds the value at the cursor. A search by grammar that fails may have run on from a value that was cut at the end of its
 * line into the next values: it is done again by layout. Neither kind of search sees a byte twice, so it stays linear.
 */
export function* searchHere(state: SplitState): Reading<ValueSearch> {
  const { cursor, maximumValueBytes: maximumBytes } = state;
  const start = markHere(cursor);
  if (isStrict(state, start.offset))
    return yield* searchValue(cursor, start, { rule: 'layout', maximumBytes });
  const search = yield* searchValue(cursor, start, { rule: 'grammar', maximumBytes });
  if (search.isComplete || search.isForgotten) return search;
  state.strictUntil = search.scan.position;
  returnTo(cursor, start);
  return yield* searchValue(cursor, start, { rule: 'layout', maximumBytes });
}

/** Reports that something else stands at the cursor than what was expected. */
export function* reportUnexpected(state: SplitState, expected: string): Splitting<void> {
  const { cursor } = state;
  yield* lookAhead(cursor, describedBytes);
  const found = describeBytes(viewBytes(cursor.window, cursor.position, cursor.position + describedBytes));
  settle(state, 'lines');
  yield { type: 'fault', fault: { at: markHere(cursor), reason: `expected ${expected}, found ${found}` } };
}

/**
 * Goes to the next line on which a value can begin, behind one that was broken: not deeper indented than the line of that
 * one, and not its closing bracket. Among documents only an opening bracket is trusted to begin one.
 */
export function* resume(state: SplitState, indent: number): Reading<void> {
  const { cursor } = state;
  for (;;) {
    yield* toLineEnd(cursor);
    const byte = yield* toNextByte(cursor);
    if (byte === endOfInput) return;
    const isOpening = byte === code.openArray || byte === code.openObject;
    const isCandidate = state.layout === 'documents' ? isOpening : !continuesValue(byte);
    if (isCandidate && cursor.indent <= indent) return;
  }
}
