import {
  type Block,
  callArguments,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../conversation/message.ts';

/** Arguments inside of arguments get lines of their own down to here; what is deeper is written as JSON. */
const DEEPEST = 6;

/**
 * The arguments of a call to be read, each on a line behind its name, and a text of several lines below it, as it is. Free
 * text stays free text. Empty for a call without arguments.
 */
export function argumentLines(call: ToolCallBlock): string {
  const given = callArguments(call);
  if (given !== undefined) return linesOf(given, '', 1).join('\n');
  return typeof call.input === 'string' ? call.input : (JSON.stringify(call.input) ?? '');
}

function linesOf(values: object, path: string, depth: number): readonly string[] {
  return Object.entries(values).flatMap(([key, value]: readonly [string, unknown]) =>
    linesOfValue(value, `${path}${key}`, depth),
  );
}

function linesOfValue(value: unknown, path: string, depth: number): readonly string[] {
  if (typeof value === 'string') return [value.includes('\n') ? `${path}:\n${value}` : `${path}: ${value}`];
  const json = JSON.stringify(value);
  if (json === undefined) return [];
  // Short lists and objects read best as they are, unless a text in them would have to be escaped.
  const isReadable = !json.includes('\\') || depth >= DEEPEST;
  if (isReadable || typeof value !== 'object' || value === null) return [`${path}: ${json}`];
  return linesOf(value, `${path}.`, depth + 1);
}

/** Whole lines of a message as it is read again: what we say about it, and behind that what was said. */
export interface ReadablePart {
  /** Words of ours. A search does not look at them. */
  readonly label: string;
  /** Of the message. Label and text together end with a line end. */
  readonly text: string;
}

/**
 * A message to be read: a line with its number and its role, then texts, calls with their arguments, results, and notes in
 * place of what is no text.
 * @param number of the message among those that are kept together, from 1
 */
export function readableParts({ role, blocks }: Message, number: number): readonly ReadablePart[] {
  return [labelled(`--- message ${number}: ${role}`), ...blocks.flatMap(partsOfBlock)];
}

function partsOfBlock(block: Block): readonly ReadablePart[] {
  switch (block.type) {
    case 'text':
      return said(block.text);
    case 'reasoning':
      return [labelled(block.text === '' ? '[reasoning, sealed]' : '[reasoning]'), ...said(block.text)];
    case 'compaction':
      return [labelled('[summary by the provider]'), ...said(block.text)];
    case 'tool-call':
      return [{ label: '[call] ', text: `${block.name}\n` }, ...said(argumentLines(block))];
    case 'tool-result':
      return partsOfResult(block);
    case 'media':
      return [labelled(`[${block.media}]`), ...said(textOf(block))];
    case 'other':
      return [labelled('[something that is no text]')];
  }
}

function partsOfResult({ name, isError, content }: ToolResultBlock): readonly ReadablePart[] {
  const kind = isError ? '[failed]' : '[result]';
  const head = name === undefined ? labelled(kind) : { label: `${kind} `, text: `${name}\n` };
  return [head, ...content.flatMap(partsOfBlock)];
}

function labelled(label: string): ReadablePart {
  return { label: `${label}\n`, text: '' };
}

function said(text: string): readonly ReadablePart[] {
  if (text === '') return [];
  return [{ label: '', text: text.endsWith('\n') ? text : `${text}\n` }];
}

/** Characters of a page: about 2,000 tokens. */
export const PAGE_CHARACTERS = 8000;

/** A stretch of the text of one message that stands on one page. */
export interface PagePiece {
  /** Number of the page, from 1. */
  readonly page: number;
  /** Index of the message. */
  readonly message: number;
  readonly text: string;
  /** How many characters in front are words of ours: a line that names the message, a note. */
  readonly labelLength: number;
}

/**
 * The text of messages in pages: whole lines, each page at least `PAGE_CHARACTERS` long but for the last; a line longer than
 * a page is parted.
 */
export function pagesOf(messages: readonly Message[]): readonly string[] {
  const pages: string[] = [];
  for (const { page, text } of pagePieces(messages)) pages[page - 1] = (pages[page - 1] ?? '') + text;
  return pages;
}

/** The number, from 1, of the page on which each message begins. */
export function firstPages(messages: readonly Message[]): readonly number[] {
  const first: number[] = [];
  for (const { page, message } of pagePieces(messages)) first[message] ??= page;
  return first;
}

/** The text of messages, piece by piece and in order. The pieces of a page together are the page. */
export function* pagePieces(messages: readonly Message[]): Generator<PagePiece> {
  let page = 1;
  let length = 0;
  for (const [message, each] of messages.entries()) {
    for (const { label, text } of readableParts(each, message + 1)) {
      const whole = `${label}${text}`;
      let from = 0;
      while (length + whole.length - from >= PAGE_CHARACTERS) {
        const end = endOfPage(whole, from, from + PAGE_CHARACTERS - length);
        yield pieceOf(page, message, whole.slice(from, end), label.length - from);
        page++;
        length = 0;
        from = end;
      }
      if (from < whole.length) yield pieceOf(page, message, whole.slice(from), label.length - from);
      length += whole.length - from;
    }
  }
}

function pieceOf(page: number, message: number, text: string, labelLength: number): PagePiece {
  return { page, message, text, labelLength: Math.min(text.length, Math.max(0, labelLength)) };
}

/**
 * Where a page ends that begins, or goes on, at `from` and is full at `full`: with the line that stands there, or in the
 * middle of it where the line is too long. Looks at no more than a page to either side, however long the text is.
 */
function endOfPage(text: string, from: number, full: number): number {
  const line = from + text.slice(from, full - 1).lastIndexOf('\n') + 1;
  const rest = text.slice(full - 1, line + PAGE_CHARACTERS + 1).indexOf('\n');
  if (rest >= 0) return full + rest;
  // A cut never goes through a character.
  const isInside = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(full - 1, full + 1));
  return isInside ? full + 1 : full;
}
