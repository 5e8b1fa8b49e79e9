import type { Checkpoint } from '../../core/checkpoint.ts';
import { isObject } from '../../core/json.ts';
import type { ArchivedSpan, StoreFault } from '../../core/store.ts';
import { isCheckpoint, isSpan } from './admission.ts';
import { ENVELOPE_ROOM } from './envelope.ts';

/** Where a span was found. */
export type SpanPlace = Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>;

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

/** UTF-8 does not keep half surrogates; the other encoding keeps everything. */
const TEXT_ENCODINGS = ['utf8', 'utf16le'] as const;

/** Where a span has its numbers and its text, which the messages follow. */
const END = 0;
const CREATED_AT = 8;
const ENCODING = 16;
const TEXT_LENGTH = 17;
const TEXT = 21;

/**
 * The messages stay the bytes they are, behind what else is to be kept, behind room for the envelope. Where the span belongs
 * is not in it: the envelope vouches for that.
 */
export function writeSpan({ end, text, createdAt, body }: ArchivedSpan): Buffer {
  const encoding = text.isWellFormed() ? 0 : 1;
  const textLength = Buffer.byteLength(text, TEXT_ENCODINGS[encoding]);
  const bytes = Buffer.allocUnsafe(ENVELOPE_ROOM + TEXT + textLength + body.length);
  const payload = bytes.subarray(ENVELOPE_ROOM);
  payload.writeDoubleBE(end, END);
  payload.writeDoubleBE(createdAt, CREATED_AT);
  payload.writeUInt8(encoding, ENCODING);
  payload.writeUInt32BE(textLength, TEXT_LENGTH);
  payload.write(text, TEXT, TEXT_ENCODINGS[encoding]);
  payload.set(body, TEXT + textLength);
  return bytes;
}

/** The span's body is a view of the payload. */
export function readSpan(place: SpanPlace, payload: Buffer): ArchivedSpan | Unreadable {
  const { buffer, byteOffset, length } = payload;
  if (length < TEXT) return 'damaged';
  const textEnd = TEXT + payload.readUInt32BE(TEXT_LENGTH);
  const encoding = TEXT_ENCODINGS[payload.readUInt8(ENCODING)];
  if (length < textEnd || encoding === undefined) return 'damaged';
  const { tenant, conversation, handle, start } = place;
  const end = payload.readDoubleBE(END);
  const createdAt = payload.readDoubleBE(CREATED_AT);
  const text = payload.toString(encoding, TEXT, textEnd);
  const body = new Uint8Array(buffer, byteOffset + textEnd, length - textEnd);
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
