import { Buffer, constants } from 'node:buffer';
import type { Place } from '../../conversation/errors.ts';
import { code, describedBytes } from './json-bytes.ts';
import type { FaultPiece } from './json-pieces.ts';
import { beginSplitting, type SplitState, splitJson } from './json-splitter.ts';
import { type ByteSource, readChunks } from './source.ts';
import { unpack } from './unpack.ts';
import { refuseUtf16, unreadableInput } from './unreadable-input.ts';

const defaultMaximumDepth = 1000;

const byteOrderMark = Buffer.from('\ufeff');

/** So many bytes tell UTF-16 and a byte order mark. */
const markBytes = 4;

/** From this size on, a value that is not all there yet is looked at again only when twice as much has come. */
const largeBytes = 1024 * 1024;

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
 * elements of a top-level array, each plain or behind gzip or zstd. Memory is bounded by the longest line and the largest
 * value.
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
  const reading = beginReading(source.name, options);
  let damage: string | undefined;
  const chunks = unpack(readChunks(source, options), (reason) => {
    damage = reason;
  });
  for await (const chunk of chunks) {
    for (const entry of reading.add(chunk)) yield entry;
  }
  for (const entry of reading.end()) yield entry;
  if (damage !== undefined) options.onBadInput?.({ place: { source: source.name }, reason: damage });
  if (!reading.hasValue) {
    throw unreadableInput({ source: source.name, head: reading.head, fault: reading.firstFault, damage });
  }
}

/** Takes chunks of bytes and gives the values in them as soon as their lines are complete. */
function beginReading(source: string, options: ReadOptions) {
  const { maximumDepth = defaultMaximumDepth, maximumValueBytes = Infinity } = options;
  const limits = {
    maximumDepth,
    maximumValueBytes: Math.min(maximumValueBytes, constants.MAX_STRING_LENGTH),
  };
  const reporter = createReporter(options.onBadInput);
  let state: SplitState | undefined;
  let head = Buffer.alloc(0);
  let hasValue = false;
  /** The bytes that are not settled yet. */
  let parts: Uint8Array[] = [];
  let sizeBytes = 0;
  let neededBytes = markBytes;

  function* take(isLast: boolean): Generator<JsonEntry> {
    let bytes = Buffer.concat(parts);
    if (state === undefined) {
      refuseUtf16(source, bytes);
      const markLength = lengthOfMark(bytes);
      bytes = bytes.subarray(markLength);
      state = beginSplitting(limits, markLength);
    }
    const before = state.cursor.offset;
    const lines = isLast ? bytes : bytes.subarray(0, bytes.lastIndexOf(code.lineFeed) + 1);
    for (const piece of splitJson(state, lines, isLast)) {
      const { line, column, offset: byte } = piece.at;
      const place = { source, line, column, byte };
      if ('reason' in piece) {
        reporter.report(place, piece);
        continue;
      }
      hasValue = true;
      yield { value: piece.value, place, kind: piece.kind, document: piece.document };
    }
    const rest = bytes.subarray(state.cursor.offset - before);
    parts = [rest];
    sizeBytes = rest.length;
    neededBytes = sizeBytes < largeBytes ? 0 : 2 * sizeBytes;
  }

  return {
    /** The first bytes, without a byte order mark. */
    get head() {
      return head.subarray(lengthOfMark(head));
    },
    get hasValue() {
      return hasValue;
    },
    get firstFault() {
      return reporter.first;
    },
    *add(chunk: Uint8Array): Generator<JsonEntry> {
      if (head.length < describedBytes) {
        head = Buffer.concat([head, chunk.subarray(0, describedBytes - head.length)]);
      }
      parts.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= neededBytes) yield* take(false);
    },
    end: () => take(true),
  };
}

function lengthOfMark(bytes: Buffer): number {
  return bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
}

/** Hands faults on, and says of a broken line only the first thing that is wrong with it. */
function createReporter(onBadInput: ReadOptions['onBadInput']) {
  let first: BadInput | undefined;
  let reportedLine = 0;
  let reportedByte = -1;
  return {
    get first() {
      return first;
    },
    report(
      place: Place & { readonly line: number; readonly byte: number },
      { reason, isElement }: FaultPiece,
    ): void {
      if (place.byte === reportedByte || (!isElement && place.line === reportedLine)) return;
      if (!isElement) reportedLine = place.line;
      reportedByte = place.byte;
      first ??= { place, reason };
      onBadInput?.({ place, reason });
    },
  };
}
