import { type Block, type Message, textOf } from '../../conversation/message.ts';
import { inputText } from './call-text.ts';

export interface TranscriptOptions {
  /** Characters that stay of a tool result, a call's input or a document, from both ends. Default 4000. */
  readonly maximumPartCharacters?: number | undefined;
}

/**
 * A conversation as plain text: `role: ` and the blocks, a line each. Calls are `[called NAME with INPUT]`, results are
 * `[tool result: TEXT]` or `[tool error: TEXT]`, media are `[image]` and so on. Reasoning is left out, and so are
 * messages that have nothing else. What people and the model said stays whole.
 */
export function renderTranscript(messages: readonly Message[], options: TranscriptOptions = {}): string {
  const limit = options.maximumPartCharacters ?? 4000;
  return messages
    .map((message) => renderMessage(message, limit))
    .filter((text) => text !== '')
    .join('\n');
}

function renderMessage({ role, blocks }: Message, limit: number): string {
  const lines = blocks.map((block) => renderBlock(block, limit)).filter((line) => line !== '');
  return lines.length === 0 ? '' : `${role}: ${lines.join('\n')}`;
}

function renderBlock(block: Block, limit: number): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'tool-call':
      return `[called ${block.name} with ${shorten(inputText(block), limit)}]`;
    case 'tool-result': {
      const text = block.content.map(resultText).join('\n');
      return `[${block.isError ? 'tool error' : 'tool result'}: ${shorten(text, limit)}]`;
    }
    case 'media':
      return block.text === undefined
        ? `[${block.media}]`
        : `[${block.media}: ${shorten(block.text, limit)}]`;
    case 'compaction':
      return block.text === '' ? '' : `[earlier summary: ${block.text}]`;
    case 'other':
      return `[${block.wireType ?? 'unknown'}]`;
    case 'reasoning':
      return '';
  }
}

function resultText(block: Block): string {
  return block.type === 'media' && block.text === undefined ? `[${block.media}]` : textOf(block);
}

/** What stands in for the middle is not worth less than this. */
const SMALLEST_SAVING = 40;

/**
 * The text with its middle left out: two thirds of `limit` characters from the head, one third from the tail, and a
 * note between them. A text that is not much longer comes back as it is. No character is cut in half.
 */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit + SMALLEST_SAVING) return text;
  const headLength = Math.ceil((limit * 2) / 3);
  const head = text.slice(0, headLength).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - limit + headLength).replace(/^[\uDC00-\uDFFF]/, '');
  return `${head} … [${text.length - head.length - tail.length} characters left out] … ${tail}`;
}
