import type { Checkpoint } from '../../core/checkpoint.ts';
import { isObject } from '../../core/json.ts';
import type { ArchivedSpan, StoreFault } from '../../core/store.ts';
import { isCheckpoint, isSpan } from './admission.ts';

/** Bytes that say how long the head of a span is. */
const LENGTH_BYTES = 4;

type Unreadable = StoreFault['reason'];

/** JSON writes half surrogates as escapes, so that every string survives UTF-8. */
export function writeCheckpoint(checkpoint: Checkpoint): Buffer {
  return Buffer.from(JSON.stringify(checkpoint));
}

export function readCheckpoint(payload: Uint8Array): Checkpoint | Unreadable {
  const value = parse(payload);
  if (isObject(value) && value['version'] !== 1) return 'unknown-version';
  if (!isCheckpoint(value)) return 'damaged';
  // JSON leaves out what is undefined; the types have it.
  return { ...value, parent: value.parent, state: { ...value.state, reason: value.state.reason } };
}

/** The messages stay the bytes they are; everything else is a head of JSON in front of them. */
export function writeSpan({ body, ...head }: ArchivedSpan): Buffer {
  const headBytes = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(headBytes.length);
  return Buffer.concat([length, headBytes, body]);
}

export function readSpan(payload: Uint8Array): ArchivedSpan | Unreadable {
  if (payload.length < LENGTH_BYTES) return 'damaged';
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const end = LENGTH_BYTES + view.getUint32(0);
  const head = parse(payload.subarray(LENGTH_BYTES, end));
  if (!isObject(head)) return 'damaged';
  // A copy: drivers hand out views of memory that they use again.
  const span = { ...head, body: new Uint8Array(payload.subarray(end)) };
  return isSpan(span) ? span : 'damaged';
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return undefined;
  }
}
