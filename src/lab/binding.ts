import { scanText } from '../memory/facts/entities.ts';

/** So far from a name a word may stand, in characters, to bind it. */
const REACH = 100;
/** A longer line is looked at piece by piece. */
const LONG_LINE = 1000;

/** A shorter word of letters says nothing of what stands beside it. Where a sign is a word, one is enough. */
const BINDING_WORD = /^.{4}|[^\0-\u024f]/u;

/** A plain word of a line, in lower case. */
export interface PlacedWord {
  readonly word: string;
  readonly start: number;
}

/** The plain words near places of one text. Lines are read once, however many places of them are asked for in order. */
export interface WordsNear {
  /** Plain words on the same line, within 100 characters of the stretch from `start` to `end`, in order. */
  placed(start: number, end: number): readonly PlacedWord[];
  /** The same as a set. */
  around(start: number, end: number): ReadonlySet<string>;
}

interface LineWords {
  readonly start: number;
  readonly end: number;
  readonly words: readonly PlacedWord[];
}

/** Looks at words in the lines of one text. */
export function wordsNear(text: string): WordsNear {
  let line: LineWords = { start: 0, end: -1, words: [] };
  const placed = (start: number, end: number) => {
    if (start < line.start || end > line.end) line = readLine(text, start, end);
    return line.words.filter(({ word, start: at }) => {
      const isInside = at < end && at + word.length > start;
      return !isInside && at + word.length >= start - REACH && at <= end + REACH;
    });
  };
  return { placed, around: (start, end) => new Set(placed(start, end).map(({ word }) => word)) };
}

function readLine(text: string, start: number, end: number): LineWords {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const lineEnd = newline === -1 ? text.length : newline;
  const isLong = lineEnd - lineStart > LONG_LINE;
  // A margin on both sides keeps names whole that begin outside of the reach.
  const from = isLong ? Math.max(lineStart, start - 2 * REACH) : lineStart;
  const to = isLong ? Math.min(lineEnd, end + 2 * REACH) : lineEnd;
  const words: PlacedWord[] = [];
  scanText(text.slice(from, to), {
    word(word, at) {
      if (BINDING_WORD.test(word)) words.push({ word: word.toLowerCase(), start: from + at });
    },
  });
  // A piece of a long line serves this place alone.
  return isLong ? { start, end, words } : { start: from, end: to, words };
}
