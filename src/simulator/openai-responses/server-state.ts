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

/**
 * Seals of one simulator: AES-256-GCM over the id of the item and its text, so that the content tells its id.
 * @param needsIds whether an item without its id is refused
 */
export function createReasoningSeals(secret: string, needsIds: boolean): ReasoningSeals {
  const key = createHash('sha256').update(secret).digest();

  /** The id that a content was sealed under; undefined for one that was not sealed here. */
  const idIn = (content: string): string | undefined => {
    const bytes = Buffer.from(content, 'base64');
    if (bytes.length < ivBytes + tagBytes) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    try {
      const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
      return opened.toString('utf8').split('\n', 1)[0];
    } catch {
      return undefined;
    }
  };

  /** Ids of all thoughts of a request, named or found in their content. */
  const thoughtsOf = rememberPerBody((body) => {
    const items = asList(asObject(body)['input']).map(asObject);
    return new Set(
      items.flatMap(({ type, id, encrypted_content: content }) =>
        type === 'reasoning' ? (asString(id) ?? idIn(asString(content) ?? '') ?? []) : [],
      ),
    );
  });

  return {
    encrypt(id, text) {
      // The id is never used twice, so neither is what is made of it.
      const iv = createHash('sha256').update(`iv ${id}`).digest().subarray(0, ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
      const sealed = Buffer.concat([cipher.update(`${id}\n${text}`, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },

    verify({ value, body }): SealVerdict {
      const item = asObject(value);
      const id = asString(item['id']);
      const content = asString(item['encrypted_content']);
      if (content !== undefined) {
        const sealedId = idIn(content);
        if (sealedId === undefined) return 'tampered';
        return id === sealedId || (id === undefined && !needsIds) ? 'valid' : 'tampered';
      }
      const thought = followerId.exec(id ?? '')?.[1];
      return thought === undefined || thoughtsOf(body).has(`rs_${thought}`) ? 'valid' : 'gap';
    },
  };
}

const followerId = /^[a-z]{2,4}_([0-9a-f]{48})r\d{1,3}$/;

/** The id of an item that follows a thought: it names the thought, so that its absence can be seen. */
export function followerIdOf(prefix: string, reasoningId: string, position: number): string {
  return `${prefix}_${reasoningId.slice('rs_'.length)}r${position}`;
}

/** What is found in a request, found once. */
function rememberPerBody<Found>(find: (body: unknown) => Found): (body: unknown) => Found {
  const found = new WeakMap<object, Found>();
  return (body) => {
    if (typeof body !== 'object' || body === null) return find(body);
    const known = found.get(body) ?? find(body);
    found.set(body, known);
    return known;
  };
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
