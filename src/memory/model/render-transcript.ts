import { fileAccess } from '../../conversation/file-access.ts';
import {
  type Block,
  callArguments,
  type Message,
  type ToolCallBlock,
  textOf,
} from '../../conversation/message.ts';

/** The input of a call as one text: a string as it is, everything else as JSON. Never throws. */
function inputText({ input }: ToolCallBlock): string {
  if (typeof input === 'string') return input;
  try {
    return JSON.stringify(input) ?? '';
  } catch {
    // Cycles and very deep values do not come from a wire, but a caller can build them.
    return String(input);
  }
}

const COMMAND_KEYS = ['command', 'cmd', 'script'];
const TARGET_KEYS = ['file_path', 'path', 'filePath', 'filename', 'file', 'url', 'query', 'pattern', 'name'];

/** What a call is about: its file, its command, or the first argument that tells. Empty when nothing does. */
export function callTarget(call: ToolCallBlock): string {
  const file = fileAccess(call)?.path;
  if (file !== undefined) return file;
  const values = callArguments(call);
  if (values === undefined) return inputText(call);
  const told = [...COMMAND_KEYS, ...TARGET_KEYS]
    .filter((key) => Object.hasOwn(values, key))
    .map((key) => targetText(values[key]));
  return told.find((text) => text !== '') ?? inputText(call);
}

function targetText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string').join(' ') : '';
}

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

/** A middle of fewer characters than this is not cut out: the note in its place would save next to nothing. */
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
