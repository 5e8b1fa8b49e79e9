import type { Checkpoint } from '../../core/checkpoint.ts';
import { isObject } from '../../core/json.ts';
import type { ArchivedSpan, StoreFault } from '../../core/store.ts';
import { isCheckpoint, isSpan } from './admission.ts';
import { ENVELOPE_ROOM } from './envelope.ts';

/** Where a span was found. */
export type SpanPlace = Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>;

/** Bytes that say how long the head of a span is. */
const LENGTH_BYTES = 4;

type Unreadable = StoreFault['reason'];

/** Behind room for the envelope. JSON writes half surrogates as escapes, so that every string survives UTF-8. */
export function writeCheckpoint(checkpoint: Checkpoint): Buffer {
  return behindRoom(JSON.stringify(checkpoint));
}

/** More room than a text of ASCII takes: any other goes beyond its length even where it does not fit. */
const LONGEST_CHARACTER = 4;

/** A text in UTF-8. Nearly always it is ASCII, and nobody has to count its bytes first. */
function behindRoom(text: string): Buffer {
  const ascii = Buffer.allocUnsafe(ENVELOPE_ROOM + text.length + LONGEST_CHARACTER);
  const written = ascii.write(text, ENVELOPE_ROOM);
  if (written === text.length) return ascii.subarray(0, ENVELOPE_ROOM + written);
  const bytes = Buffer.allocUnsafe(ENVELOPE_ROOM + Buffer.byteLength(text));
  bytes.write(text, ENVELOPE_ROOM);
  return bytes;
}

export function readCheckpoint(payload: Buffer): Checkpoint | Unreadable {
  const value = parse(payload.toString());
  if (isObject(value) && value['version'] !== 1) return 'unknown-version';
  if (!isCheckpoint(value)) return 'damaged';
  // JSON leaves out what is undefined; the types have it.
  return { ...value, parent: value.parent, state: { ...value.state, reason: value.state.reason } };
}

/**
 * The messages stay the bytes they are; what else is to be kept is a head of JSON in front of them, behind room for the
 * envelope. Where the span belongs is not in it: the envelope vouches for that.
 */
export function writeSpan({ end, text, createdAt, body }: ArchivedSpan): Buffer {
  const head = Buffer.from(JSON.stringify({ end, text, createdAt }));
  const bodyStart = ENVELOPE_ROOM + LENGTH_BYTES + head.length;
  const bytes = Buffer.allocUnsafe(bodyStart + body.length);
  bytes.set(head, bytes.writeUInt32BE(head.length, ENVELOPE_ROOM));
  bytes.set(body, bodyStart);
  return bytes;
}

/** The span's body is a view of the payload. */
export function readSpan(place: SpanPlace, payload: Buffer): ArchivedSpan | Unreadable {
  const { buffer, byteOffset, length } = payload;
  if (length < LENGTH_BYTES) return 'damaged';
  const headEnd = LENGTH_BYTES + payload.readUInt32BE(0);
  if (length < headEnd) return 'damaged';
  const head = parse(payload.toString('utf8', LENGTH_BYTES, headEnd));
  if (!isObject(head)) return 'damaged';
  const { tenant, conversation, handle, start } = place;
  const { end, text, createdAt } = head;
  const body = new Uint8Array(buffer, byteOffset + headEnd, length - headEnd);
  const span = { tenant, conversation, handle, start, end, body, text, createdAt };
  return isSpan(span) ? span : 'damaged';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
