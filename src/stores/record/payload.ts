import { asCount, asList, isObject } from '../../conversation/json.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { ArchivedSpan, StoreFault } from '../store.ts';
import { isCheckpoint, isSpan } from './admission.ts';
import { ENVELOPE_ROOM } from './envelope.ts';
import { type LongText, putLongText, takeLongTexts } from './long-texts.ts';

/** Where a span was found. */
export type SpanPlace = Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>;

type Unreadable = StoreFault['reason'];

/** Where a checkpoint has the length of its JSON, and the JSON itself, which the long texts follow. */
const JSON_LENGTH = 0;
const JSON_START = 4;

/** The checkpoint without its long texts, and for each of these where it belongs and how many bytes it takes. */
type WrittenCheckpoint = readonly [
  checkpoint: Checkpoint,
  texts: readonly (readonly [path: LongText['path'], length: number])[],
];

/** Behind room for the envelope. JSON writes half surrogates as escapes, so that every string survives UTF-8. */
export function writeCheckpoint(checkpoint: Checkpoint): Buffer {
  const { rest, texts } = takeLongTexts(checkpoint.parts);
  const lengths = texts.map(({ text }) => Buffer.byteLength(text));
  const written: WrittenCheckpoint = [
    { ...checkpoint, parts: rest },
    texts.map(({ path }, index) => [path, lengths[index] ?? 0]),
  ];
  const json = JSON.stringify(written);
  const jsonLength = Buffer.byteLength(json);
  const textsLength = lengths.reduce((sum, length) => sum + length, 0);
  const bytes = Buffer.allocUnsafe(ENVELOPE_ROOM + JSON_START + jsonLength + textsLength);
  bytes.writeUInt32BE(jsonLength, ENVELOPE_ROOM + JSON_LENGTH);
  let end = ENVELOPE_ROOM + JSON_START;
  end += bytes.write(json, end);
  for (const { text } of texts) end += bytes.write(text, end);
  return bytes;
}

export function readCheckpoint(payload: Buffer): Checkpoint | Unreadable {
  const value = readWritten(payload);
  if (isObject(value) && value['version'] !== 1) return 'unknown-version';
  if (!isCheckpoint(value)) return 'damaged';
  // JSON leaves out what is undefined; the types have it.
  return { ...value, parent: value.parent, state: { ...value.state, reason: value.state.reason } };
}

/** What was written, whatever it is, with its texts in their places; undefined when it is not all there. */
function readWritten(payload: Buffer): unknown {
  if (payload.length < JSON_START) return undefined;
  let end = JSON_START + payload.readUInt32BE(JSON_LENGTH);
  const [checkpoint, texts] = asList(parse(payload.toString('utf8', JSON_START, end)));
  const parts = isObject(checkpoint) ? checkpoint['parts'] : undefined;
  for (const entry of asList(texts)) {
    const [path, length] = asList(entry);
    const start = end;
    end += asCount(length);
    const text = payload.toString('utf8', start, end);
    // A path that is none leads nowhere.
    if (!putLongText(parts, { path: asList(path) as LongText['path'], text })) return undefined;
  }
  return end === payload.length ? checkpoint : undefined;
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
