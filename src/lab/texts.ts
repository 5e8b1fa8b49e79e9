/** Texts of messages as the lab compares them: normalised, in sentences and in bare lines. */

import {
  type Block,
  callArguments,
  type Message,
  type ToolCallBlock,
  textOf,
} from '../conversation/message.ts';

/** A text in which case and white space do not count: lower case, every run of white space one space. */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ');
}

/** Lines and sentences of a text, as they were written; an end mark counts before a space. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(/(?<=[.!?。！？]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

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

/** A shorter line stands anywhere and tells nothing. */
export const LINE_CHARACTERS = 20;

/** Numbers that readers of files put in front of lines: `  12→`, `12: `, `12| `, `path/file.ts:12:`. */
const NUMBERING = /^(?:[\w./-]{1,200}[:-])?\s{0,10}\d{1,7}(?:→|\t|[:|-] ?)/;

/** A line without the number that a reader put in front of it, and without white space at its ends. */
export function bareLine(line: string): string {
  return line.replace(NUMBERING, '').trim();
}

/** Whether a bare line is long enough, and not made of signs alone. */
export function isTellingLine(line: string): boolean {
  return line.length >= LINE_CHARACTERS && (line.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= LINE_CHARACTERS / 2;
}

/** A longer line is data, of which nobody keeps the whole. */
export const LONGEST_LINE = 2000;

/** The line of a text that a stretch of it stands on; of a very long one, more than the longest that counts. */
export function lineAround(text: string, start: number, end: number): string {
  const from = Math.max(0, start - LONGEST_LINE);
  const piece = text.slice(from, end + LONGEST_LINE);
  const newline = piece.indexOf('\n', end - from);
  const lineStart = start === from ? 0 : piece.lastIndexOf('\n', start - from - 1) + 1;
  return piece.slice(lineStart, newline === -1 ? piece.length : newline);
}
