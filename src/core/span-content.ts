import type { Hash } from './chain.ts';
import { type Message, textOf } from './message.ts';

/** Hexadecimal digits of a name: 128 bits are enough to tell what one conversation has. */
const NAME_LENGTH = 32;

/** The name of messages that are kept. It depends on the conversation and on the content, and on nothing else. */
export function spanHandle(hash: Hash, conversation: string, raws: readonly unknown[]): string {
  return `rf:${hash(`${conversation}\n${JSON.stringify(raws)}`).slice(0, NAME_LENGTH)}`;
}

/** What can be searched in messages that are kept: their text, and what their calls say. */
export function searchableText(messages: readonly Message[]): string {
  return messages.map(searchableMessage).join('\n\n');
}

function searchableMessage({ blocks }: Message): string {
  return blocks
    .map((block) =>
      block.type === 'tool-call' ? `${block.name} ${JSON.stringify(block.input) ?? ''}` : textOf(block),
    )
    .join('\n');
}
