import { type Conversation, withMessages } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type { Block } from '../../conversation/message.ts';

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
  const ids = new ShortIds(sha1);
  let isChanged = false;
  const shortened = messages.map((message) => {
    const blocks = message.blocks.map((block) => withShortId(block, ids));
    if (blocks.every((block, index) => block === message.blocks[index])) return message;
    isChanged = true;
    return format.withBlocks(message, blocks);
  });
  return withMessages(conversation, isChanged ? shortened : messages);
}

function idOf(block: Block): string | undefined {
  if (block.type === 'tool-call') return block.id;
  return block.type === 'tool-result' ? block.callId : undefined;
}

function withShortId(block: Block, ids: ShortIds): Block {
  const id = idOf(block);
  if (id === undefined || id.length <= LONGEST_TOOL_ID || !isObject(block.raw)) return block;
  const short = ids.get(id);
  if (block.type === 'tool-call') return { ...block, id: short, raw: { ...block.raw, id: short } };
  if (block.type !== 'tool-result') return block;
  return { ...block, callId: short, raw: { ...block.raw, tool_call_id: short } };
}

/** Gives every long id one short one, and no two the same. */
class ShortIds {
  private readonly short = new Map<string, string>();
  private readonly taken = new Set<string>();
  private readonly sha1: (text: string) => string;

  constructor(sha1: (text: string) => string) {
    this.sha1 = sha1;
  }

  get(id: string): string {
    const known = this.short.get(id);
    if (known !== undefined) return known;
    let short = shortToolId(id, this.sha1);
    for (let attempt = 1; this.taken.has(short); attempt++) {
      short = shortToolId(id, (text) => this.sha1(`${text}\n${attempt}`));
    }
    this.short.set(id, short);
    this.taken.add(short);
    return short;
  }
}
