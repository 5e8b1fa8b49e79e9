import type { StoreFault } from '../store.ts';
import type { Checksum } from './checksum.ts';
import type { RecordIdentity } from './identity.ts';
import type { Seal } from './seal.ts';

/**
 * A record in the database: a byte for the version, and what that version is.
 * - plain: the sum of the identity and the payload, and the payload.
 * - sealed: what the seal made. It opens only as it was closed, so that it needs no sum.
 * 1 and 2 were the same with another head in spans, 3 was plain with another sum, 4 and 5 had all of a checkpoint in its JSON.
 */
const PLAIN = 7;
const SEALED = 6;
const SUM_START = 1;
const PLAIN_START = 9;
const SEALED_START = 1;

/** Bytes in front of a payload that is to be closed: the envelope is written there, and nothing has to be copied. */
export const ENVELOPE_ROOM = PLAIN_START;

/** Puts payloads into records and takes them out again. */
export interface Envelope {
  readonly isSealed: boolean;
  /** Takes the payload behind `ENVELOPE_ROOM` bytes, which are the envelope's from then on. */
  close(identity: RecordIdentity, payload: Buffer): Buffer;
  /** The payload, which may be a view of the record, or why there is none. */
  open(identity: RecordIdentity, record: Uint8Array): Buffer | StoreFault['reason'];
}

export function createEnvelope(checksum: Checksum, seal: Seal | undefined): Envelope {
  return {
    isSealed: seal !== undefined,

    close(identity, record) {
      const payload = record.subarray(ENVELOPE_ROOM);
      if (seal !== undefined) return Buffer.concat([Buffer.of(SEALED), seal.close(identity, payload)]);
      record[0] = PLAIN;
      viewOf(record).setBigUint64(SUM_START, checksum(identity.text, payload));
      return record;
    },

    open(identity, record) {
      const version = record[0];
      if (version === PLAIN) {
        if (record.length < PLAIN_START) return 'damaged';
        const payload = Buffer.from(
          record.buffer,
          record.byteOffset + PLAIN_START,
          record.length - PLAIN_START,
        );
        if (viewOf(record).getBigUint64(SUM_START) !== checksum(identity.text, payload)) return 'damaged';
        return seal === undefined ? payload : 'wrong-key';
      }
      if (version === SEALED) return seal?.open(identity, record.subarray(SEALED_START)) ?? 'wrong-key';
      return record.length === 0 ? 'damaged' : 'unknown-version';
    },
  };
}

/** For the number in a record. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
