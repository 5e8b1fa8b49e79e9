import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { SealVerdict, SealVerifier } from '../../contracts/contract.ts';
import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import { asObject } from '../json.ts';

/** Encrypts reasoning and judges what comes back. */
export interface ReasoningSeals {
  /** The thought as only the server can read it, under the id of its item. */
  encrypt(id: string, text: string): string;
  readonly verify: SealVerifier;
}

const ivBytes = 12;
const tagBytes = 16;

/** Seals of one simulator: AES-256-GCM with the id of the item as associated data, so that no other id opens them. */
export function createReasoningSeals(secret: string): ReasoningSeals {
  const key = createHash('sha256').update(secret).digest();

  const opens = (id: string, content: string): boolean => {
    const bytes = Buffer.from(content, 'base64');
    if (bytes.length < ivBytes + tagBytes) return false;
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(id)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    try {
      decipher.update(bytes.subarray(ivBytes + tagBytes));
      decipher.final();
      return true;
    } catch {
      return false;
    }
  };

  return {
    encrypt(id, text) {
      // The id is never used twice, so neither is what is made of it.
      const iv = createHash('sha256').update(`iv ${id}`).digest().subarray(0, ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(id));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },

    verify({ value, body }): SealVerdict {
      const item = asObject(value);
      const id = asString(item['id']) ?? '';
      const content = asString(item['encrypted_content']);
      if (content !== undefined) return opens(id, content) ? 'valid' : 'tampered';
      const thought = followerId.exec(id)?.[1];
      return thought === undefined || hasItem(body, `rs_${thought}`) ? 'valid' : 'gap';
    },
  };
}

const followerId = /^[a-z]{2,4}_([0-9a-f]{48})r\d{1,3}$/;

/** The id of an item that follows a thought: it names the thought, so that its absence can be seen. */
export function followerIdOf(prefix: string, reasoningId: string, position: number): string {
  return `${prefix}_${reasoningId.slice('rs_'.length)}r${position}`;
}

function hasItem(body: unknown, id: string): boolean {
  return asList(asObject(body)['input']).some((item) => asObject(item)['id'] === id);
}

/** Responses that the server holds, so that a later request can go on from one by its id. */
export interface StoredResponses {
  /** Whether a response or one of its items is held. */
  has(id: string): boolean;
  /** The request with the history of its previous response in front; the very same one when it names none. */
  expand(body: JsonObject): JsonObject;
  keep(response: JsonObject, items: readonly unknown[]): void;
}

const maxResponses = 200;

/** A store that forgets the oldest responses. */
export function createStoredResponses(): StoredResponses {
  const histories = new Map<string, readonly unknown[]>();
  const findItem = (id: unknown): unknown =>
    [...histories.values()].flat().find((item) => asObject(item)['id'] === id);

  return {
    has: (id) => histories.has(id) || findItem(id) !== undefined,

    expand(body) {
      const previous = asString(body['previous_response_id']);
      const history = previous === undefined ? [] : (histories.get(previous) ?? []);
      const items = itemsOf(body);
      const resolved = items.map((item) => {
        const { type, id } = asObject(item);
        return type === 'item_reference' ? (findItem(id) ?? item) : item;
      });
      const isSame = history.length === 0 && resolved.every((item, index) => item === items[index]);
      if (isSame) return body;
      const { previous_response_id: _previous, ...rest } = body;
      return { ...rest, input: [...history, ...resolved] };
    },

    keep(response, items) {
      histories.set(asString(response['id']) ?? '', [...items, ...asList(response['output'])]);
      const oldest = histories.size > maxResponses ? histories.keys().next().value : undefined;
      if (oldest !== undefined) histories.delete(oldest);
    },
  };
}

/** The items of a request; a bare text is one message. */
export function itemsOf(body: JsonObject): readonly unknown[] {
  const { input } = body;
  return typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input);
}
