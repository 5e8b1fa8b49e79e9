import type { Conversation } from '../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';

/** Anthropic takes so many markers in one request. */
const MOST_MARKERS = 4;
/** Blocks that may carry no marker. */
const UNMARKABLE = new Set<unknown>(['thinking', 'redacted_thinking']);

/**
 * Puts a cache marker at the end of the prefix, the message before the last one. The marker of the conversation's newest
 * request stands behind it, or on a message that is not sent, and without one the provider does not look for what the
 * requests before have written. Does nothing for a conversation that caches no messages, since there is nothing to find,
 * and for one that is marked as a whole, since its end is near enough.
 */
export function markPrefixEnd(body: JsonObject, { frame }: Conversation): JsonObject {
  const messages = asList(body['messages']);
  const around = countMarkers([{ content: body['tools'] }, { content: body['system'] }]);
  const isWanted = !isObject(body['cache_control']) && around < MOST_MARKERS && countMarkers(frame.list) > 0;
  const end = messages.at(-2);
  const marked = isWanted && isObject(end) ? withMarker(end) : end;
  if (marked === end) return body;
  const before = withMarkers(messages.slice(0, -2), MOST_MARKERS - around - 1);
  return { ...body, messages: [...before, marked, ...messages.slice(-1)] };
}

/** The message with one marker, on its last block; the very same one when it has one there, or can have none. */
function withMarker(message: JsonObject): JsonObject {
  const blocks = blocksOf(message);
  const last = blocks.findLastIndex(isMarkable);
  if (last < 0 || isMarked(blocks[last])) return message;
  const bare = blocks.map(withoutMarkers);
  const content = bare.map((block, index) =>
    index === last && isObject(block) ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  );
  return { ...message, content };
}

function isMarkable(block: unknown): boolean {
  if (!isObject(block) || UNMARKABLE.has(block['type'])) return false;
  return block['type'] !== 'text' || asString(block['text'])?.trim() !== '';
}

/** The messages with so many markers at most: the newest ones stay. */
function withMarkers(messages: readonly unknown[], most: number): readonly unknown[] {
  let room = Math.max(0, most);
  return messages
    .toReversed()
    .map((message) => {
      const found = countMarkers([message]);
      if (found <= room) {
        room -= found;
        return message;
      }
      return isObject(message) ? { ...message, content: blocksOf(message).map(withoutMarkers) } : message;
    })
    .toReversed();
}

function withoutMarkers(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { cache_control: _marker, ...rest } = block;
  return Array.isArray(rest['content']) ? { ...rest, content: rest['content'].map(withoutOwn) } : rest;
}

function withoutOwn(block: unknown): unknown {
  if (!isObject(block)) return block;
  const { cache_control: _marker, ...rest } = block;
  return rest;
}

/** Markers on blocks, and on what tool results hold. */
function countMarkers(messages: readonly unknown[]): number {
  const blocks = messages.flatMap((message) => (isObject(message) ? blocksOf(message) : []));
  return blocks.reduce<number>((count, block) => {
    const inner = isObject(block) ? asList(block['content']) : [];
    return count + [block, ...inner].filter(isMarked).length;
  }, 0);
}

function isMarked(block: unknown): boolean {
  return isObject(block) && isObject(block['cache_control']);
}

function blocksOf({ content }: JsonObject): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
}
