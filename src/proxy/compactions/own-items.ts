import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { rewriteBody } from '../body/body-bytes.ts';
import { parseBody } from '../body/parsed-body.ts';

// A compaction item is opaque to clients: they keep it and send it back. Ours holds a memory in plain text behind a mark, and
// becomes a message with that memory before a request goes on, since no provider could read it.

/** What the content of an item of ours begins with. No client writes any of its characters another way in JSON. */
const MARK = '~roundfold-memory~1:';

const latin = new TextDecoder('latin1');

/** Whether some ASCII text stands in a body. Every request is looked through, so the platform does it where it can. */
export function hasText(body: Uint8Array, text: string): boolean {
  const { Buffer } = globalThis;
  if (Buffer === undefined) return latin.decode(body).includes(text);
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes(text);
}

/** An item that stands for everything before it. */
export function ownCompaction(id: string, memory: string): JsonObject {
  return { id, type: 'compaction', encrypted_content: `${MARK}${memory}` };
}

/** The items with ours as the messages that they stand for; all others are the very same values. */
export function withMemories(items: readonly unknown[]): readonly unknown[] {
  return items.map((item) => {
    const memory = memoryOf(item);
    if (memory === undefined) return item;
    return { type: 'message', role: 'user', content: [{ type: 'input_text', text: memory }] };
  });
}

/** The bytes of a Responses request with our items as messages; undefined when there are none in it. */
export function withMemoriesInBody(body: Uint8Array): Uint8Array | undefined {
  if (!hasText(body, MARK)) return undefined;
  const parsed = parseBody(body, 'input', undefined);
  const input = parsed?.value['input'];
  if (parsed === undefined || !Array.isArray(input)) return undefined;
  if (!input.some((item) => memoryOf(item) !== undefined)) return undefined;
  return rewriteBody(parsed, { ...parsed.value, input: withMemories(input) });
}

function memoryOf(item: unknown): string | undefined {
  const content = isObject(item) && item['type'] === 'compaction' ? asString(item['encrypted_content']) : '';
  return content?.startsWith(MARK) === true ? content.slice(MARK.length) : undefined;
}
