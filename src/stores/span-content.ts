import type { Message } from '../conversation/message.ts';
import type { Hash } from '../conversation/sha256.ts';
import { readableParts } from '../memory/pages/readable-parts.ts';

/** Hexadecimal digits of a name: 128 bits are enough to tell what one conversation has. */
const NAME_LENGTH = 32;

/** A message as it is kept, and the hash of that: worked out once, however many spans it is in. */
export interface KeptMessage {
  readonly json: string;
  readonly digest: string;
}

/** Writes a message down as it is kept. */
export function keptMessage(hash: Hash, raw: unknown): KeptMessage {
  // What JSON has no word for is null in a list.
  const json = JSON.stringify(raw) ?? 'null';
  return { json, digest: hash(json) };
}

/** The name of messages that are kept. It depends on the conversation and on the content, and on nothing else. */
export function spanHandle(hash: Hash, conversation: string, messages: readonly KeptMessage[]): string {
  const digests = messages.map(({ digest }) => digest);
  return `rf:${hash([conversation, ...digests].join('\n')).slice(0, NAME_LENGTH)}`;
}

/** What can be searched in messages that are kept: all that their pages show, without the words that are ours. */
export function searchableText(messages: readonly Message[]): string {
  return messages
    .flatMap((message, index) => readableParts(message, index + 1).map(({ text }) => text))
    .join('');
}
