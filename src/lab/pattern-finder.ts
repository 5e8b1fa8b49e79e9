/** Finds many texts at once, for the scores. */

import { isWordBorder, isWordCode } from '../memory/facts/entities.ts';

/** Finds many texts in a text in one pass over its words. */
export interface PatternFinder {
  /** Calls back for each place of each pattern, in the order of the words they are found by. */
  find(text: string, found: (pattern: number, start: number) => void): void;
}

interface Keyed {
  readonly pattern: number;
  readonly text: string;
  /** Where the word that it is found by stands in the pattern. */
  readonly offset: number;
}

export interface FinderOptions {
  /** Whether a pattern counts only where no word runs across its ends. */
  readonly wholeWords: boolean;
}

/** Makes a finder. A pattern without a whole word of its own is looked for the plain way, which costs a pass each. */
export function createPatternFinder(
  patterns: readonly string[],
  { wholeWords }: FinderOptions,
): PatternFinder {
  const byWord = new Map<string, Keyed[]>();
  const plain: Keyed[] = [];
  const mayStart = new Uint8Array(1 << 16);
  for (const [pattern, text] of patterns.entries()) {
    const key = keyWord(text, wholeWords);
    if (key === undefined) {
      if (text !== '') plain.push({ pattern, text, offset: 0 });
      continue;
    }
    const entry = { pattern, text, offset: key.offset };
    const known = byWord.get(key.word);
    if (known === undefined) byWord.set(key.word, [entry]);
    else known.push(entry);
    mayStart[signature(key.word.charCodeAt(0), key.word.length)] = 1;
  }
  const isFound = (text: string, start: number, pattern: string) =>
    start >= 0 &&
    text.startsWith(pattern, start) &&
    (!wholeWords || (isWordBorder(text, start) && isWordBorder(text, start + pattern.length)));

  return {
    find(text, found) {
      forEachWord(text, (start, end) => {
        if (mayStart[signature(text.charCodeAt(start), end - start)] === 0) return;
        for (const { pattern, text: wanted, offset } of byWord.get(text.slice(start, end)) ?? []) {
          if (isFound(text, start - offset, wanted)) found(pattern, start - offset);
        }
      });
      for (const { pattern, text: wanted } of plain) {
        for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
          if (isFound(text, at, wanted)) found(pattern, at);
        }
      }
    },
  };
}

function signature(code: number, length: number): number {
  return ((code << 6) ^ length) & 0xffff;
}

function forEachWord(text: string, take: (start: number, end: number) => void): void {
  const { length } = text;
  for (let start = 0; start < length; ) {
    if (!isWordCode(text.charCodeAt(start))) {
      start++;
      continue;
    }
    let end = start + 1;
    while (end < length && isWordCode(text.charCodeAt(end))) end++;
    take(start, end);
    start = end;
  }
}

/** The longest word of a pattern that stands as a whole word wherever the pattern does. */
function keyWord(
  pattern: string,
  wholeWords: boolean,
): { readonly word: string; readonly offset: number } | undefined {
  let best: { readonly word: string; readonly offset: number } | undefined;
  forEachWord(pattern, (start, end) => {
    // At its ends a pattern may stand inside a longer word of the text, unless whole words are asked for.
    const isWhole = wholeWords || (start > 0 && end < pattern.length);
    if (isWhole && end - start > (best?.word.length ?? 0)) {
      best = { word: pattern.slice(start, end), offset: start };
    }
  });
  return best;
}
