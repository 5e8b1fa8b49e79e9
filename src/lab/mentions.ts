/** How a prefix speaks of a name: the words beside it and the lines it stands on. */

import { scanText } from '../memory/facts/entities.ts';
import type { PatternFinder } from './pattern-finder.ts';
import {
  bareLine,
  isTellingLine,
  LINE_CHARACTERS,
  LONGEST_LINE,
  lineAround,
  type SourcedText,
  type TextSource,
} from './texts.ts';

/** A word binds a name (says what it is) when it stands within this many characters of it. */
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

/** How many plain words beside a name say what it was. */
export const TWO_WORDS = 2;
/** How many say it firmly. */
export const FOUR_WORDS = 4;

/** A name that stands on more lines than this is known well enough by these. */
const MOST_LINES = 100;

/** How a prefix speaks of a name. */
export interface Mention {
  /** Number of the block with text of the prefix that showed it last. */
  readonly sourceBlock: number;
  /** What kind of text that was. */
  readonly source: TextSource;
  /** Plain words that stood within 100 characters of it on a line of the prefix, in lower case. */
  readonly companions: ReadonlySet<string>;
  /** Lines of the prefix that it stands on, without numbering: a whole one of them says what it was. */
  readonly lines: ReadonlySet<string>;
  /** Whether two such words stand beside one mention. Other names do not count as bound by two words. */
  readonly hasTwoWords: boolean;
  /** Whether four do, or the line tells something. Other names do not count as bound by four words or a line. */
  readonly hasFourWordsOrLine: boolean;
}

interface OpenMention extends Mention {
  readonly companions: Set<string>;
  readonly lines: Set<string>;
  sourceBlock: number;
  source: TextSource;
  hasTwoWords: boolean;
  hasFourWordsOrLine: boolean;
}

/** For each name how the texts speak of it; undefined for one that stands nowhere. The finder looks for these names. */
export function readMentions(
  texts: readonly SourcedText[],
  finder: PatternFinder,
  names: readonly string[],
): readonly (Mention | undefined)[] {
  const mentions = names.map((): OpenMention | undefined => undefined);
  for (const [block, { text, source }] of texts.entries()) {
    const near = wordsNear(text);
    finder.find(text, (pattern, start) => {
      const end = start + (names[pattern]?.length ?? 0);
      const mention = mentions[pattern] ?? noMention();
      mentions[pattern] = mention;
      mention.sourceBlock = block;
      mention.source = source;
      bind(mention, near.around(start, end), sourceLine(text, start, end));
    });
  }
  return mentions;
}

function noMention(): OpenMention {
  return {
    sourceBlock: -1,
    source: 'result',
    companions: new Set(),
    lines: new Set(),
    hasTwoWords: false,
    hasFourWordsOrLine: false,
  };
}

/** Notes what stands beside one mention of a name. */
function bind(mention: OpenMention, words: ReadonlySet<string>, line: string | undefined): void {
  for (const word of words) mention.companions.add(word);
  if (words.size >= TWO_WORDS) mention.hasTwoWords = true;
  if (line !== undefined && mention.lines.size < MOST_LINES) mention.lines.add(line);
  if (words.size >= FOUR_WORDS || line !== undefined) mention.hasFourWordsOrLine = true;
}

/** The bare line that a name stands on, where the whole of it tells more than the name; a name alone fills no line. */
function sourceLine(text: string, start: number, end: number): string | undefined {
  const line = bareLine(lineAround(text, start, end));
  const isMore = line.length >= end - start + LINE_CHARACTERS / 2;
  return isMore && line.length <= LONGEST_LINE && isTellingLine(line) ? line : undefined;
}
