import {
  type Block,
  callArguments,
  type Message,
  type ToolCallBlock,
  textOf,
} from '../conversation/message.ts';

/** All that a model could read of a message: texts, names and arguments of calls, results, one after the other. */
export function messageText({ blocks }: Message): string {
  return blocks
    .map(blockText)
    .filter((text) => text !== '')
    .join('\n');
}

/** The same of a whole context. */
export function contextText(messages: readonly Message[]): string {
  return messages.map(messageText).join('\n');
}

function blockText(block: Block): string {
  return block.type === 'tool-call' ? callText(block) : textOf(block);
}

/** Strings as they are: nobody looks for a text with its line breaks escaped. */
function callText(call: ToolCallBlock): string {
  const input = callArguments(call);
  const values = input === undefined ? [call.input] : Object.values(input);
  const texts = values.map((value) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')));
  return [call.name, ...texts].join('\n');
}
