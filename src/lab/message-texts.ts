import type { Block, Message, ToolCallBlock } from '../conversation/message.ts';
import { callArguments, textOf } from '../conversation/message.ts';

/** Where a text stands: what the user wrote, what a tool gave back, what the model said, thought or handed to a tool. */
export type TextSource = 'system' | 'user' | 'result' | 'assistant' | 'reasoning' | 'call';

/** The readable text of one block. */
export interface SourcedText {
  readonly source: TextSource;
  readonly text: string;
  readonly block: Block;
}

/** Every readable text of a message, block by block. Arguments of calls are their values, one after the other. */
export function textsOf(message: Message): readonly SourcedText[] {
  return message.blocks
    .map((block) => ({ source: sourceOf(message, block), text: readableText(block), block }))
    .filter(({ text }) => text !== '');
}

function sourceOf({ role }: Message, block: Block): TextSource {
  if (block.type === 'tool-call') return 'call';
  if (block.type === 'tool-result') return 'result';
  return block.type === 'reasoning' ? 'reasoning' : role;
}

function readableText(block: Block): string {
  return block.type === 'tool-call' ? argumentText(block) : textOf(block);
}

/** The values of a call's arguments as text: strings as they are, one value after the other. */
export function argumentText(call: ToolCallBlock): string {
  const values: string[] = [];
  collectValues(callArguments(call) ?? call.input, values);
  return values.join('\n');
}

/** No tool nests its arguments deeper than this; what does is left out. */
const MAXIMUM_DEPTH = 12;

function collectValues(value: unknown, into: string[], depth = 0): void {
  if (typeof value === 'string') {
    into.push(value);
  } else if (typeof value === 'number' || typeof value === 'boolean') {
    into.push(String(value));
  } else if (typeof value === 'object' && value !== null && depth < MAXIMUM_DEPTH) {
    for (const inner of Object.values(value)) collectValues(inner, into, depth + 1);
  }
}
