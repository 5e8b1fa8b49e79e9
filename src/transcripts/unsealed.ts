import { type Conversation, withMessages } from '../conversation/format.ts';
import { isObject } from '../conversation/json.ts';
import type { Block, Message } from '../conversation/message.ts';
import type { ChangeLog } from '../formats/change-log.ts';

/**
 * The conversation without reasoning that a provider would refuse in a new session. Claude's is signed for the very messages
 * before it, so it stays only in front of the first change. A Responses item goes back to the account that it was sealed for, so it stays where the same agent goes on; one
 * without sealed content only names what the provider has forgotten. What followed a removed item loses its id, by which the
 * provider would miss it.
 */
export function withoutBoundReasoning(
  conversation: Conversation,
  { isSameAgent, unchanged }: { readonly isSameAgent: boolean; readonly unchanged: number },
  log: ChangeLog,
): Conversation {
  const { format, messages } = conversation;
  const isSealed = isSameAgent && format.name === 'openai-responses';
  const isSigned = isSameAgent && format.name === 'anthropic-messages';
  const stays = (block: Block, index: number): boolean =>
    block.type !== 'reasoning' || (isSealed && block.sealed !== undefined) || (isSigned && index < unchanged);
  if (messages.every(({ blocks }, index) => blocks.every((block) => stays(block, index))))
    return conversation;
  const left: Message[] = [];
  let isAfterRemoved = false;
  for (const [index, message] of messages.entries()) {
    const blocks = message.blocks.filter((block) => stays(block, index));
    const removed = message.blocks.length - blocks.length;
    if (removed > 0) log.add('reasoning block', 'left out, being bound to the old session', removed);
    if (blocks.length > 0 || removed === 0) {
      const kept = removed === 0 ? message : format.withBlocks(message, blocks);
      left.push(isAfterRemoved ? withoutId(kept, conversation) : kept);
    }
    isAfterRemoved = message.role === 'assistant' && (isAfterRemoved || blocks.length === 0);
  }
  return withMessages(conversation, left);
}

function withoutId(message: Message, { format }: Conversation): Message {
  const { raw, role } = message;
  if (format.name !== 'openai-responses' || role !== 'assistant') return message;
  if (!isObject(raw) || raw['id'] === undefined) return message;
  const { id: _id, ...rest } = raw;
  return format.readMessage(rest);
}
