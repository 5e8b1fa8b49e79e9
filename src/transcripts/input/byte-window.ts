import { Buffer } from 'node:buffer';
import { code } from './json-bytes.ts';

const smallestCapacityBytes = 512 * 1024;

/**
 * The part of a stream that is in memory. Positions are offsets into the whole stream and stay true when the
 * window moves on; the byte at `offset` is `bytes[offset - base]`.
 */
export interface ByteWindow {
  /** Exactly the bytes from `base` to `end`. */
  bytes: Buffer;
  base: number;
  end: number;
  /** Whether the stream is over, so that nothing follows `end`. */
  isComplete: boolean;
  /** What `bytes` is a view of, with room for more. */
  storage: Buffer;
}

/** A place in the stream. Line and column count from 1; columns count bytes. */
export interface Mark {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export function createByteWindow(): ByteWindow {
  const storage = Buffer.allocUnsafeSlow(smallestCapacityBytes);
  return { bytes: storage.subarray(0, 0), base: 0, end: 0, isComplete: false, storage };
}

/** Adds a chunk at the end and may forget what stands before `keepFrom`. Copies each byte a bounded number of times. */
export function appendBytes(window: ByteWindow, chunk: Uint8Array, keepFrom: number): void {
  if (window.bytes.length + chunk.length > window.storage.length) makeRoom(window, chunk.length, keepFrom);
  const used = window.end - window.base;
  window.storage.set(chunk, used);
  window.bytes = window.storage.subarray(0, used + chunk.length);
  window.end += chunk.length;
}

function makeRoom(window: ByteWindow, extraBytes: number, keepFrom: number): void {
  const kept = window.bytes.subarray(keepFrom - window.base);
  const needed = kept.length + extraBytes;
  const capacity = window.storage.length;
  // Moving pays only when it frees half of the storage. Storage that grew for one large value shrinks again.
  const isFit = needed <= capacity / 2 && (capacity === smallestCapacityBytes || needed > capacity / 4);
  const storage = isFit
    ? window.storage
    : Buffer.allocUnsafeSlow(Math.max(smallestCapacityBytes, 2 * needed));
  storage.set(kept);
  window.storage = storage;
  window.base = keepFrom;
}

/** The byte at an offset that the window holds; -1 at its end. */
export function byteAt(window: ByteWindow, offset: number): number {
  return window.bytes[offset - window.base] ?? -1;
}

/** A view of the bytes between two offsets, true until the next `appendBytes`. */
export function viewBytes(window: ByteWindow, start: number, end: number): Buffer {
  return window.bytes.subarray(start - window.base, end - window.base);
}

/** The offset of the first line feed at or after `from`; -1 when the window holds none. */
export function findLineFeed(window: ByteWindow, from: number): number {
  const index = window.bytes.indexOf(code.lineFeed, from - window.base);
  return index === -1 ? -1 : index + window.base;
}

/** The line and column of `offset`, counted on from a mark before it that the window still holds. */
export function markFrom(window: ByteWindow, start: Mark, offset: number): Mark {
  let { line } = start;
  let lineStart = start.offset - start.column + 1;
  for (let feed = findLineFeed(window, start.offset); feed !== -1 && feed < offset; ) {
    line += 1;
    lineStart = feed + 1;
    feed = findLineFeed(window, lineStart);
  }
  return { offset, line, column: offset - lineStart + 1 };
}
