import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';

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
  const findItem = (id: string): unknown => {
    for (const items of histories.values()) {
      const found = items.find((item) => isObject(item) && item['id'] === id);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return {
    has: (id) => histories.has(id) || findItem(id) !== undefined,

    expand(body) {
      const previous = asString(body['previous_response_id']);
      const history = previous === undefined ? [] : (histories.get(previous) ?? []);
      const items = itemsOf(body);
      const resolved = items.map((item) =>
        isObject(item) && item['type'] === 'item_reference'
          ? (findItem(asString(item['id']) ?? '') ?? item)
          : item,
      );
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
