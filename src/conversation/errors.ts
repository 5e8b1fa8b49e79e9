/**
 * Stable codes of everything this package throws. The CLI turns them into exit codes.
 *
 * - `input-not-understood`: the bytes or the value are not a conversation we can read
 * - `usage`: the caller asked for something that does not exist or does not fit together
 * - `missing-dependency`: an optional package is needed and not installed
 * - `upstream`: a provider could not be reached or refused
 * - `store`: what is kept between turns could not be read or written
 */
export type ErrorCode = 'input-not-understood' | 'usage' | 'missing-dependency' | 'upstream' | 'store';

/** Where in its source a fault stands. Lines and columns count from 1, bytes from 0. */
export interface Place {
  /** File name as the user gave it, or `<stdin>`. */
  readonly source?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly byte?: number | undefined;
  /** Path inside the value, in the provider's own notation: `messages.3.content.0`. */
  readonly path?: string | undefined;
}

export interface ErrorDetails {
  readonly cause?: unknown;
  readonly place?: Place | undefined;
  /** What the reader of the message can do about it, as one sentence. */
  readonly remedy?: string | undefined;
}

const mark = Symbol.for('roundfold.error');

/**
 * Base of everything this package throws. `code` is stable and documented; the message is for people.
 * Check with `RoundfoldError.is()`, which also knows errors from another copy of the package.
 */
export class RoundfoldError extends Error {
  override readonly name: string = 'RoundfoldError';
  readonly [mark] = true;
  readonly code: ErrorCode;
  readonly place: Place | undefined;
  readonly remedy: string | undefined;

  constructor(code: ErrorCode, message: string, { cause, place, remedy }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.place = place;
    this.remedy = remedy;
  }

  static is(value: unknown): value is RoundfoldError {
    return typeof value === 'object' && value !== null && mark in value;
  }
}

/** `session.jsonl:12:34 (messages.3)`, as far as the place is known; empty when nothing is. */
export function describePlace(place: Place | undefined): string {
  if (place === undefined) return '';
  const position = [place.source, place.line, place.column].filter((part) => part !== undefined).join(':');
  const inside = place.path === undefined ? '' : position === '' ? place.path : ` (${place.path})`;
  return `${position}${inside}`;
}
