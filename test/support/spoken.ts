import { isObject } from '../../src/conversation/json.ts';
import { type Block, callArguments, type Message, textOf } from '../../src/conversation/message.ts';

/** What one side says until the other one speaks, without the ways in which formats write it down. */
export interface Spoken {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly unknown[];
}

/**
 * What is said in these messages: texts, calls, results, pictures and reasoning, in their order. Neighbouring messages of one
 * side are one, text is the same in a string and in a block, and blank text is none. System messages, and what only a
 * provider can read, are left out: which agents keep them is told as changes.
 */
export function spokenIn(messages: readonly Message[]): readonly Spoken[] {
  const turns: { role: 'user' | 'assistant'; parts: unknown[] }[] = [];
  for (const { role, blocks } of messages) {
    const parts = blocks.flatMap(partsOf);
    if (role === 'system' || parts.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  return turns;
}

function partsOf(block: Block): readonly unknown[] {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? [] : [block.text];
    case 'tool-call':
      if (block.runBy === 'server') return [];
      return [{ call: block.id, name: block.name, input: callArguments(block) ?? { input: block.input } }];
    case 'tool-result':
      return block.runBy === 'server' ? [] : [resultOf(block.callId, block.content, block.isError)];
    case 'media':
      return [{ media: block.media, data: block.data, text: block.text }];
    case 'reasoning':
      return [{ reasoning: block.text, sealed: block.sealed, signature: signatureOf(block.raw) }];
    case 'compaction':
    case 'other':
      return [];
  }
}

function resultOf(id: string | undefined, content: readonly Block[], isError: boolean): object {
  const text = content
    .filter(({ type }) => type !== 'media')
    .map(textOf)
    .join('\n');
  const media = content.flatMap((block) => (block.type === 'media' ? partsOf(block) : []));
  const hasMore = content.some(({ type }) => type !== 'text');
  return { result: id, text: text.trim() === '' ? '' : text, media, hasMore, isError };
}

function signatureOf(raw: unknown): unknown {
  return isObject(raw) ? raw['signature'] : undefined;
}
