import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { StoreFault } from '../store.ts';
import type { RecordIdentity } from './identity.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** What tells our key from others, made from the secret like the key itself and of no use to find it. */
const MARK_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TAG_START = MARK_BYTES + NONCE_BYTES;
const CONTENT_START = TAG_START + TAG_BYTES;
const MINIMUM_SECRET_BYTES = 16;

/** Keys of tenants that are kept; the others are derived again. */
const MAXIMUM_KEYS = 1000;

/** Encryption of records: a key for each tenant, and the record's identity as additional data. */
export interface Seal {
  close(identity: RecordIdentity, payload: Uint8Array): Uint8Array;
  /** The payload, or why there is none. Under another identity it counts as damaged. */
  open(identity: RecordIdentity, sealed: Uint8Array): Buffer | StoreFault['reason'];
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
    close({ tenant, text }, payload) {
      const { key, mark } = keyOf(tenant);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(text));
      const encrypted = Buffer.concat([cipher.update(payload), cipher.final()]);
      return Buffer.concat([mark, nonce, cipher.getAuthTag(), encrypted]);
    },

    open({ tenant, text }, sealed) {
      if (sealed.length < CONTENT_START) return 'damaged';
      const { key, mark } = keyOf(tenant);
      if (!mark.equals(sealed.subarray(0, MARK_BYTES))) return 'wrong-key';
      const nonce = sealed.subarray(MARK_BYTES, TAG_START);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(text));
      decipher.setAuthTag(sealed.subarray(TAG_START, CONTENT_START));
      const opened = decipher.update(sealed.subarray(CONTENT_START));
      try {
        // This mode has nothing left to give in the end but its verdict.
        decipher.final();
        return opened;
      } catch {
        return 'damaged';
      }
    },
  };
}

interface TenantKey {
  readonly key: Buffer;
  readonly mark: Buffer;
}

function tenantKeys(master: Buffer): (tenant: string) => TenantKey {
  const keys = new Map<string, TenantKey>();
  return (tenant) => {
    const known = keys.get(tenant);
    if (known !== undefined) return known;
    // As JSON, because two tenants that differ in a half surrogate are the same bytes of UTF-8.
    const info = Buffer.from(`roundfold store 1 ${JSON.stringify(tenant)}`);
    const derived = Buffer.from(hkdfSync('sha256', master, '', info, KEY_BYTES + MARK_BYTES));
    const made = { key: derived.subarray(0, KEY_BYTES), mark: derived.subarray(KEY_BYTES) };
    if (keys.size >= MAXIMUM_KEYS) keys.clear();
    keys.set(tenant, made);
    return made;
  };
}
