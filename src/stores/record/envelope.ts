import { createHash } from 'node:crypto';
import type { StoreFault } from '../../core/store.ts';
import { identityBytes, type RecordIdentity } from './identity.ts';
import type { Seal } from './seal.ts';

/**
 * A record in the database: a byte for the version, a SHA-256 of the rest, and the rest. Plain records are checked
 * together with their identity; sealed ones open only under it.
 */
const PLAIN = 1;
const SEALED = 2;
const CHECKSUM_BYTES = 32;
const HEADER_BYTES = 1 + CHECKSUM_BYTES;

/** Puts payloads into records and takes them out again. */
export interface Envelope {
  readonly isSealed: boolean;
  close(identity: RecordIdentity, payload: Uint8Array): Uint8Array;
  /** The payload, or why there is none. */
  open(identity: RecordIdentity, record: Uint8Array): Uint8Array | StoreFault['reason'];
}

export function createEnvelope(seal: Seal | undefined): Envelope {
  return {
    isSealed: seal !== undefined,

    close(identity, payload) {
      if (seal === undefined) return assemble(PLAIN, checksum(identityBytes(identity), payload), payload);
      const sealed = seal.close(identity, payload);
      return assemble(SEALED, checksum(sealed), sealed);
    },

    open(identity, record) {
      const version = record[0];
      if (version !== PLAIN && version !== SEALED) return record.length === 0 ? 'damaged' : 'unknown-version';
      const stored = record.subarray(1, HEADER_BYTES);
      const content = record.subarray(HEADER_BYTES);
      const found = version === PLAIN ? checksum(identityBytes(identity), content) : checksum(content);
      if (!found.equals(stored)) return 'damaged';
      if (version === PLAIN) return seal === undefined ? content : 'wrong-key';
      return seal?.open(identity, content) ?? 'wrong-key';
    },
  };
}

function assemble(version: number, sum: Uint8Array, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(version), sum, content]);
}

function checksum(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}
