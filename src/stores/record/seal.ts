import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { RoundfoldError } from '../../core/errors.ts';
import { identityBytes, type RecordIdentity } from './identity.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MINIMUM_SECRET_BYTES = 16;

/** Keys of tenants that are kept; the others are derived again. */
const MAXIMUM_KEYS = 1000;

/** Encryption of records: a key for each tenant, and the record's identity as additional data. */
export interface Seal {
  close(identity: RecordIdentity, payload: Uint8Array): Uint8Array;
  /** Undefined when it was sealed with another key or under another identity. */
  open(identity: RecordIdentity, sealed: Uint8Array): Uint8Array | undefined;
}

/** @throws `usage` when the secret is too short */
export function createSeal(secret: string | Uint8Array): Seal {
  const master = Buffer.from(secret);
  if (master.length < MINIMUM_SECRET_BYTES) {
    throw new RoundfoldError('usage', `the secret of a store has at least ${MINIMUM_SECRET_BYTES} bytes`, {
      remedy: 'Make one with a generator of random values, and keep it.',
    });
  }
  const keyOf = tenantKeys(master);
  return {
    close(identity, payload) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyOf(identity.tenant), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(identityBytes(identity));
      const encrypted = Buffer.concat([cipher.update(payload), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
    },

    open(identity, sealed) {
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, keyOf(identity.tenant), nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(identityBytes(identity));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([opened, decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}

function tenantKeys(master: Buffer): (tenant: string) => Buffer {
  const keys = new Map<string, Buffer>();
  return (tenant) => {
    const known = keys.get(tenant);
    if (known !== undefined) return known;
    // As JSON, because two tenants that differ in a half surrogate are the same bytes of UTF-8.
    const info = Buffer.from(`roundfold store 1 ${JSON.stringify(tenant)}`);
    const key = Buffer.from(hkdfSync('sha256', master, '', info, KEY_BYTES));
    if (keys.size >= MAXIMUM_KEYS) keys.clear();
    keys.set(tenant, key);
    return key;
  };
}
