import type { Message } from '../../conversation/message.ts';
import { readableParts } from './readable-parts.ts';

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
