import { type Conversation, withMessages } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { isSameList } from '../content.ts';

/** Longer ids are refused by some servers of the chat format. */
const LONGEST_TOOL_ID = 40;

const HASH_LENGTH = 8;

/**
 * An id of at most 40 characters: a longer one keeps its beginning and gets `_` and eight digits of its hash.
 * @param sha1 the SHA-1 of a text in hexadecimal digits
 */
export function shortToolId(id: string, sha1: (text: string) => string): string {
  if (id.length <= LONGEST_TOOL_ID) return id;
  return `${id.slice(0, LONGEST_TOOL_ID - HASH_LENGTH - 1)}_${sha1(id).slice(0, HASH_LENGTH)}`;
}

/**
 * The conversation with short ids, the same for a call and its result. Chat Completions only. Where two ids would become
 * one, the later gets another hash. The very same conversation when all of them are short.
 */
export function shortenToolIds(conversation: Conversation, sha1: (text: string) => string): Conversation {
  const { format, messages } = conversation;
  if (format.name !== 'openai-chat') return conversation;
  const shortOf = shortener(sha1);
  const shortened = messages.map((message): Message => {
    const blocks = message.blocks.map((block) => withShortId(block, shortOf));
    return isSameList(blocks, message.blocks) ? message : format.withBlocks(message, blocks);
  });
  return isSameList(shortened, messages) ? conversation : withMessages(conversation, shortened);
}

function withShortId(block: Block, shortOf: (id: string) => string): Block {
  const { raw } = block;
  if (!isObject(raw)) return block;
  if (block.type === 'tool-call' && isLong(block.id)) {
    const id = shortOf(block.id);
    return { ...block, id, raw: { ...raw, id } };
  }
  if (block.type !== 'tool-result' || !isLong(block.callId)) return block;
  const callId = shortOf(block.callId);
  return { ...block, callId, raw: { ...raw, tool_call_id: callId } };
}

function isLong(id: string | undefined): id is string {
  return id !== undefined && id.length > LONGEST_TOOL_ID;
}

/** Gives every long id one short one, and no two the same. */
function shortener(sha1: (text: string) => string): (id: string) => string {
  const known = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    let short = known.get(id) ?? shortToolId(id, sha1);
    for (let attempt = 1; taken.has(short) && !known.has(id); attempt++) {
      short = shortToolId(id, (text) => sha1(`${text}\n${attempt}`));
    }
    known.set(id, short);
    taken.add(short);
    return short;
  };
}
