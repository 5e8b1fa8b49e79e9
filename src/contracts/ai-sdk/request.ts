import type { CheckContext } from '../contract.ts';
import { isObject, read, readList, readText } from '../json-value.ts';

/** One part of a message's content, with where it stands. */
export interface Part {
  readonly value: unknown;
  readonly type: string | undefined;
  readonly message: number;
  readonly position: number;
}

export interface PromptMessage {
  readonly role: unknown;
  readonly parts: readonly Part[];
}

/** What a call of `generateText` or `streamText` sends, as far as the SDK judges it. */
export interface Prompt {
  /** Undefined when there is neither a prompt nor a list of messages. */
  readonly messages: readonly PromptMessage[] | undefined;
  /** Where the list stands: `messages`, or `prompt` when that holds it. */
  readonly key: string;
  readonly allowsSystem: boolean;
}

/** Reads the options of a call, or a bare list of messages. */
export function readPrompt(body: unknown, context: CheckContext): Prompt {
  if (Array.isArray(body)) return toPrompt(body, 'messages', context.scope === 'messages');
  const allowsSystem = context.scope === 'messages' || read(body, 'allowSystemInMessages') === true;
  const prompt = read(body, 'prompt');
  if (typeof prompt === 'string')
    return toPrompt([{ role: 'user', content: prompt }], 'prompt', allowsSystem);
  const key = Array.isArray(prompt) ? 'prompt' : 'messages';
  const list = isObject(body) && Array.isArray(body[key]) ? body[key] : undefined;
  return toPrompt(list, key, allowsSystem);
}

function toPrompt(list: readonly unknown[] | undefined, key: string, allowsSystem: boolean): Prompt {
  return { messages: list?.map(readMessage), key, allowsSystem };
}

function readMessage(message: unknown, index: number): PromptMessage {
  const parts = readList(message, 'content').map((value, position) => ({
    value,
    type: readText(value, 'type'),
    message: index,
    position,
  }));
  return { role: read(message, 'role'), parts };
}
