import { constants } from 'node:buffer';
import type { Place } from '../../conversation/errors.ts';
import { type ByteFeed, openFeed } from './byte-feed.ts';
import { type ByteWindow, type Mark, markFrom, viewBytes } from './byte-window.ts';
import { splitJson } from './json-splitter.ts';
import { parseJson } from './lossless-json.ts';
import type { ByteSource } from './source.ts';
import type { Piece } from './splitting.ts';
import { refuseUtf16, unreadableInput } from './unreadable-input.ts';
import { explainInvalid, type Fault, type ValueSearch } from './value-search.ts';

const defaultMaximumDepth = 1000;

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** One JSON value with where it began. Bytes and columns count the unpacked content; a byte order mark has no column. */
export interface JsonEntry {
  readonly value: unknown;
  readonly place: Place;
  /** `element` when it stood inside a top-level array. An empty top-level array is a `document` with the value `[]`. */
  readonly kind: 'document' | 'element';
  /** Tells top-level values apart: the elements of one array share it. It rises through the input, not always by one. */
  readonly document: number;
}

/** A piece of the input that is no JSON, and where it broke. The reading goes on after it. */
export interface BadInput {
  readonly place: Place;
  readonly reason: string;
}

export interface ReadOptions {
  /** Called at most once for each line outside of arrays, and for each bad element. */
  readonly onBadInput?: ((bad: BadInput) => void) | undefined;
  /** Called for each chunk with the bytes read so far, as they are in the source: compressed ones before unpacking. */
  readonly onProgress?: ((bytesRead: number) => void) | undefined;
  /** Values nested deeper are bad input. Default 1000. */
  readonly maximumDepth?: number | undefined;
  /** Larger values are bad input. Default, and at most, what fits into one string: 512 MiB less 24 bytes. */
  readonly maximumValueBytes?: number | undefined;
  /** Ends the reading with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads JSON value by value: JSON Lines, several values on one line, pretty-printed and concatenated documents, and the
 * elements of a top-level array, each plain or behind gzip or zstd. Memory is bounded by the largest value.
 *
 * When the first value ends on the line it began on, a line break is the end of every value that is not indented like
 * pretty-printed JSON; so one broken line costs no other. Whatever is no JSON goes to `onBadInput`, and is passed over.
 *
 * Throws `RoundfoldError` (`input-not-understood`) when there is no value at all or the input is UTF-16 or cannot be read.
 */
export async function* readJsonValues(
  source: ByteSource,
  options: ReadOptions = {},
): AsyncGenerator<JsonEntry, void> {
  const feed = openFeed(source, options);
  const maximumValueBytes = Math.min(options.maximumValueBytes ?? Infinity, constants.MAX_STRING_LENGTH);
  const limits = { maximumDepth: options.maximumDepth ?? defaultMaximumDepth, maximumValueBytes };
  const reporter = createReporter(source.name, options.onBadInput);
  let hasValue = false;
  try {
    const offset = await readMark(source.name, feed);
    for (const piece of splitJson(feed.window, { offset, maximumValueBytes })) {
      if (typeof piece === 'number') {
        await feed.fill(piece);
        continue;
      }
      const taken = takePiece(piece, feed.window, limits);
      if ('reason' in taken) {
        reporter.report(taken, piece.type === 'value' && piece.kind === 'element');
        continue;
      }
      hasValue = true;
      const { value, start, kind, document } = taken;
      yield { value, place: toPlace(source.name, start), kind, document };
    }
    const damage = feed.damage?.reason;
    if (damage !== undefined) options.onBadInput?.({ place: { source: source.name }, reason: damage });
    if (!hasValue) {
      throw unreadableInput({
        source: source.name,
        head: feed.head.subarray(offset),
        fault: reporter.first,
        damage,
      });
    }
  } finally {
    await feed.close();
  }
}

/** Passes over a byte order mark and returns how long it is. */
async function readMark(source: string, feed: ByteFeed): Promise<number> {
  while (feed.window.end < byteOrderMark.length && !feed.window.isComplete) await feed.fill(0);
  refuseUtf16(source, feed.head);
  const isMarked = byteOrderMark.every((byte, index) => feed.head[index] === byte);
  return isMarked ? byteOrderMark.length : 0;
}

interface Limits {
  readonly maximumDepth: number;
  readonly maximumValueBytes: number;
}

interface TakenValue {
  readonly value: unknown;
  readonly start: Mark;
  readonly kind: 'document' | 'element';
  readonly document: number;
}

function takePiece(piece: Piece, window: ByteWindow, limits: Limits): TakenValue | Fault {
  if (piece.type === 'fault') return piece.fault;
  const { document } = piece;
  if (piece.type === 'empty-array') return { value: [], start: piece.start, kind: 'document', document };
  const { search, kind } = piece;
  const excess = findExcess(search, limits);
  if (excess !== undefined) return { at: search.start, reason: excess };
  const bytes = viewBytes(window, search.start.offset, search.scan.position);
  try {
    const text = bytes.toString('utf8');
    const value: unknown = search.scan.hasWideNumber ? parseJson(text) : JSON.parse(text);
    return { value, start: search.start, kind, document };
  } catch {
    const { index, reason } = explainInvalid(bytes);
    return { at: markFrom(window, search.start, search.start.offset + index), reason };
  }
}

function findExcess({ start, scan }: ValueSearch, limits: Limits): string | undefined {
  const sizeBytes = scan.position - start.offset;
  if (sizeBytes > limits.maximumValueBytes) {
    return `a value of ${sizeBytes} bytes, larger than the limit of ${limits.maximumValueBytes}`;
  }
  if (scan.deepest > limits.maximumDepth) {
    return `a value nested ${scan.deepest} levels deep, deeper than the limit of ${limits.maximumDepth}`;
  }
  return undefined;
}

/** Hands faults on, and says of a broken line only the first thing that is wrong with it. */
function createReporter(source: string, onBadInput: ReadOptions['onBadInput']) {
  let first: BadInput | undefined;
  let reportedLine = 0;
  let reportedOffset = -1;
  return {
    get first() {
      return first;
    },
    report({ at, reason }: Fault, isElement: boolean): void {
      if (at.offset === reportedOffset || (!isElement && at.line === reportedLine)) return;
      if (!isElement) reportedLine = at.line;
      reportedOffset = at.offset;
      const bad = { place: toPlace(source, at), reason };
      first ??= bad;
      onBadInput?.(bad);
    },
  };
}

function toPlace(source: string, { line, column, offset }: Mark): Place {
  return { source, line, column, byte: offset };
}
