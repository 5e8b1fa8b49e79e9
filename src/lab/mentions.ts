import { wordsNear } from './binding.ts';
import { bareLine, isTellingLine, LINE_CHARACTERS, LONGEST_LINE, lineAround } from './file-lines.ts';
import type { SourcedText, TextSource } from './message-texts.ts';
import type { PatternFinder } from './pattern-finder.ts';

/** So many plain words beside a name say what it was. */
export const TWO_WORDS = 2;
/** So many say it firmly. */
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
