/** Records as bytes, plain or sealed, and back. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';
import { isCheckpoint, isSpan, placeOf, type RecordPlace } from './records.ts';
import type { StoreFault, StoreRecord } from './store.ts';

/**
 * The first byte of a record.
 * - plain: the sum of the place and the payload follows, then the payload
 * - sealed: the mark of the key, the nonce, the tag and what the cipher made of the payload follow
 */
const PLAIN = 1;
const SEALED = 2;

const SUM_BYTES = 16;
const PAYLOAD_START = 1 + SUM_BYTES;
const NEWLINE = 0x0a;

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** What tells our key from others, made from the secret like the key itself and of no use to find it. */
const MARK_BYTES = 8;
const NONCE_START = 1 + MARK_BYTES;
const NONCE_BYTES = 12;
const TAG_START = NONCE_START + NONCE_BYTES;
const TAG_BYTES = 16;
const CONTENT_START = TAG_START + TAG_BYTES;
const MINIMUM_SECRET_BYTES = 16;

type Unreadable = StoreFault['reason'];

/** Writes records as bytes. One that cannot be read back gives a fault that says why. */
export interface RecordCodec {
  /** Whether nothing of the content may be written in the clear. */
  readonly isSealed: boolean;
  write(record: StoreRecord): Uint8Array;
  /** A record that was written for another place is damaged. */
  read(place: RecordPlace, bytes: unknown): StoreRecord | StoreFault;
}

/**
 * Records are sealed where there is a secret.
 * @throws `usage` when the secret is too short
 */
export function createRecordCodec(secret?: string | Uint8Array): RecordCodec {
  const master = secret === undefined ? undefined : Buffer.from(secret);
  if (master !== undefined && master.length < MINIMUM_SECRET_BYTES) {
    throw new RoundfoldError('usage', `the secret of a store has at least ${MINIMUM_SECRET_BYTES} bytes`, {
      remedy: 'Make one with a generator of random values, and keep it.',
    });
  }
  return {
    isSealed: master !== undefined,

    write(record) {
      const place = placeOf(record);
      const payload = payloadOf(record);
      if (master !== undefined) return seal(master, place, payload);
      return Buffer.concat([Buffer.of(PLAIN), checksum(place, payload), ...payload]);
    },

    read(place, bytes) {
      const payload = open(master, place, bytes);
      const found = typeof payload === 'string' ? payload : recordOf(place, payload);
      if (typeof found !== 'string') return found;
      return { kind: place.kind, tenant: place.tenant, name: place.name, reason: found };
    },
  };
}

/** Whether reading gave a fault instead of a record. */
export function isFault(value: StoreRecord | StoreFault): value is StoreFault {
  return 'reason' in value;
}

/**
 * A checkpoint is JSON. A span is its head as JSON, a newline, which JSON has none of, and the messages as the bytes they
 * are. In parts, because spans are large and every copy of one costs time.
 */
function payloadOf(record: StoreRecord): readonly Uint8Array[] {
  if ('checkpoint' in record) return [Buffer.from(JSON.stringify(record.checkpoint))];
  const { end, createdAt, text, body } = record.span;
  return [Buffer.from(`${JSON.stringify({ end, createdAt, text })}\n`), body];
}

function recordOf(place: RecordPlace, payload: Buffer): StoreRecord | Unreadable {
  return place.kind === 'checkpoint' ? checkpointOf(payload) : spanOf(place, payload);
}

function checkpointOf(payload: Buffer): StoreRecord | Unreadable {
  const value = parseJson(payload);
  if (isObject(value) && value['version'] !== 1) return 'unknown-version';
  if (!isCheckpoint(value)) return 'damaged';
  // JSON leaves out what is undefined; the types have it.
  const state = { ...value.state, reason: value.state.reason };
  return { checkpoint: { ...value, parent: value.parent, state } };
}

function spanOf(place: RecordPlace, payload: Buffer): StoreRecord | Unreadable {
  const { tenant, conversation, name: handle, position: start } = place;
  const newline = payload.indexOf(NEWLINE);
  const head = parseJson(payload.subarray(0, newline));
  if (newline < 0 || !isObject(head)) return 'damaged';
  const { end, text, createdAt } = head;
  // A copy, which is the caller's own.
  const body = new Uint8Array(payload.subarray(newline + 1));
  const span = { tenant, conversation, handle, start, end, body, text, createdAt };
  return isSpan(span) ? { span } : 'damaged';
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** The payload, or why there is none. A damaged database may hold anything in the place of a record. */
function open(master: Buffer | undefined, place: RecordPlace, record: unknown): Buffer | Unreadable {
  if (!(record instanceof Uint8Array) || record.length === 0) return 'damaged';
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length);
  if (bytes[0] === SEALED) return master === undefined ? 'wrong-key' : unseal(master, place, bytes);
  if (bytes[0] !== PLAIN) return 'unknown-version';
  const payload = bytes.subarray(PAYLOAD_START);
  if (!checksum(place, [payload]).equals(bytes.subarray(1, PAYLOAD_START))) return 'damaged';
  return master === undefined ? payload : 'wrong-key';
}

/** Finds damage, and records that stand in the place of others. */
function checksum(place: RecordPlace, payload: readonly Uint8Array[]): Buffer {
  const sum = createHash('sha256').update(textOf(place)).update('\n');
  for (const part of payload) sum.update(part);
  return sum.digest().subarray(0, SUM_BYTES);
}

/** No two places make one text. */
function textOf({ kind, tenant, conversation, scope, name, position }: RecordPlace): string {
  return JSON.stringify([kind, tenant, conversation, scope, name, position]);
}

function seal(master: Buffer, place: RecordPlace, payload: readonly Uint8Array[]): Buffer {
  const { key, mark } = keyOf(master, place.tenant);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(textOf(place)));
  const encrypted = [...payload.map((part) => cipher.update(part)), cipher.final()];
  return Buffer.concat([Buffer.of(SEALED), mark, nonce, cipher.getAuthTag(), ...encrypted]);
}

function unseal(master: Buffer, place: RecordPlace, sealed: Buffer): Buffer | Unreadable {
  if (sealed.length < CONTENT_START) return 'damaged';
  const { key, mark } = keyOf(master, place.tenant);
  if (!mark.equals(sealed.subarray(1, NONCE_START))) return 'wrong-key';
  const nonce = sealed.subarray(NONCE_START, TAG_START);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(textOf(place)));
  decipher.setAuthTag(sealed.subarray(TAG_START, CONTENT_START));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(CONTENT_START)), decipher.final()]);
  } catch {
    return 'damaged';
  }
}

/** Every tenant has a key of its own. */
function keyOf(master: Buffer, tenant: string): { readonly key: Buffer; readonly mark: Buffer } {
  // As JSON, because two tenants that differ in a half surrogate are the same bytes of UTF-8.
  const info = Buffer.from(`roundfold store 1 ${JSON.stringify(tenant)}`);
  const derived = Buffer.from(hkdfSync('sha256', master, '', info, KEY_BYTES + MARK_BYTES));
  return { key: derived.subarray(0, KEY_BYTES), mark: derived.subarray(KEY_BYTES) };
}
