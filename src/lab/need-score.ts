/** Scores a context by how much of what the future needed is still in it. */

import type { Receipt } from '../compaction/plan/receipt.ts';
import type { Message } from '../conversation/message.ts';
import { FOUR_WORDS, TWO_WORDS, wordsNear } from './mentions.ts';
import type { LineNeed, NameNeed, Needs } from './needs.ts';
import { createPatternFinder, type PatternFinder } from './pattern-finder.ts';
import { bareLine, lineAround, textsOf } from './texts.ts';

/** How many of how many are left. */
export interface Share {
  readonly kept: number;
  readonly of: number;
}

/** What is left of everything that the future needs. */
export interface NeedScore {
  /** Names of later calls that are still there, as whole words. */
  readonly names: Share;
  /** Names that still stand on a line with two plain words that stood with them before. */
  readonly boundTwoWords: Share;
  /** Names that still stand on a line with four such words, or on a whole line of the prefix. */
  readonly boundFourWordsOrLine: Share;
  /** Lines of later edits' old text that are still there, verbatim. */
  readonly editLines: Share;
  /** Demands of the user's that are still there, verbatim. */
  readonly demands: Share;
  /** Changed files that are still named. */
  readonly changedFiles: Share;
  /** Names that are still there, or whose last source can be fetched by a handle that is there. */
  readonly namesByHandle: Share;
  /** The sources of the missing lines, each once. */
  readonly tokensToReadAgain: number;
  readonly missed: MissedNeeds;
}

/** What is not there any more. */
export interface MissedNeeds {
  readonly names: readonly NameNeed[];
  readonly editLines: readonly LineNeed[];
  readonly demands: readonly string[];
  readonly changedFiles: readonly string[];
}

/** Tells whether a block of the prefix can be fetched again, by its number among those with text. */
export type IsRetrievable = (sourceBlock: number) => boolean;

const nothingIs: IsRetrievable = () => false;

/** Finders for the needs of one cut, which serve every output that is scored for it. */
interface Finders {
  readonly names: PatternFinder;
  readonly lines: PatternFinder;
}

const prepared = new WeakMap<Needs, Finders>();

function findersOf(needs: Needs): Finders {
  const known = prepared.get(needs);
  if (known !== undefined) return known;
  const names = [...needs.names.map(({ name }) => name), ...needs.changedFiles];
  const lines = [...needs.editLines.map(({ line }) => line), ...needs.demands];
  const finders = {
    names: createPatternFinder(names, { wholeWords: true }),
    lines: createPatternFinder(lines, { wholeWords: false }),
  };
  prepared.set(needs, finders);
  return finders;
}

/**
 * Scores what stands in the place of a prefix by what the future of the cut needed. `isRetrievable` says what can be
 * fetched back; by default nothing can.
 */
export function scoreNeeds(
  needs: Needs,
  output: readonly Message[],
  isRetrievable: IsRetrievable = nothingIs,
): NeedScore {
  const texts = output.flatMap(textsOf).map(({ text }) => text);
  return scoreTexts(needs, texts, isRetrievable);
}

/** The same for texts, where there are no messages. */
export function scoreTexts(
  needs: Needs,
  texts: readonly string[],
  isRetrievable: IsRetrievable = nothingIs,
): NeedScore {
  const { names, editLines, demands, changedFiles } = needs;
  const met = findMet(needs, texts);
  const isNamed = (index: number) => met.names.has(index);
  const isFileNamed = (index: number) => met.names.has(names.length + index);
  const isLineKept = (index: number) => met.lines.has(index);
  const isDemandKept = (index: number) => met.lines.has(editLines.length + index);
  const boundNames = (isAsked: (need: NameNeed) => boolean, found: ReadonlySet<number>) =>
    shareOf(names.flatMap((need, index) => (isAsked(need) ? [found.has(index)] : [])));
  return {
    names: shareOf(names.map((_, index) => isNamed(index))),
    boundTwoWords: boundNames(({ hasTwoWords }) => hasTwoWords, met.boundTwoWords),
    boundFourWordsOrLine: boundNames(
      ({ hasFourWordsOrLine }) => hasFourWordsOrLine,
      met.boundFourWordsOrLine,
    ),
    editLines: shareOf(editLines.map((_, index) => isLineKept(index))),
    demands: shareOf(demands.map((_, index) => isDemandKept(index))),
    changedFiles: shareOf(changedFiles.map((_, index) => isFileNamed(index))),
    namesByHandle: shareOf(
      names.map(({ sourceBlock }, index) => isNamed(index) || isRetrievable(sourceBlock)),
    ),
    tokensToReadAgain: tokensToReadAgain(needs, isLineKept),
    missed: {
      names: names.filter((_, index) => !isNamed(index)),
      editLines: editLines.filter((_, index) => !isLineKept(index)),
      demands: demands.filter((_, index) => !isDemandKept(index)),
      changedFiles: changedFiles.filter((_, index) => !isFileNamed(index)),
    },
  };
}

/** Numbers of the goals that a text meets: names, names bound by two words, lines of edits, each in the order of the needs. */
export function needsMetBy(needs: Needs, text: string): readonly number[] {
  const { names, boundTwoWords, lines } = findMet(needs, [text]);
  const { length } = needs.names;
  return [
    ...[...names].filter((name) => name < length),
    ...[...boundTwoWords].map((name) => length + name),
    ...[...lines].filter((line) => line < needs.editLines.length).map((line) => 2 * length + line),
  ];
}

/** Needs that are met, by number: changed files stand behind the names, demands behind the lines. */
interface Met {
  readonly names: ReadonlySet<number>;
  readonly boundTwoWords: ReadonlySet<number>;
  readonly boundFourWordsOrLine: ReadonlySet<number>;
  readonly lines: ReadonlySet<number>;
}

function findMet(needs: Needs, texts: readonly string[]): Met {
  const finders = findersOf(needs);
  const names = new Set<number>();
  const boundTwoWords = new Set<number>();
  const boundFourWordsOrLine = new Set<number>();
  const lines = new Set<number>();
  for (const text of texts) {
    const near = wordsNear(text);
    finders.names.find(text, (pattern, start) => {
      names.add(pattern);
      const need = needs.names[pattern];
      if (need === undefined || (boundTwoWords.has(pattern) && boundFourWordsOrLine.has(pattern))) return;
      const shared = sharedWords(need, near.around(start, start + need.name.length));
      if (shared >= TWO_WORDS) boundTwoWords.add(pattern);
      if (shared >= FOUR_WORDS || standsOnWholeLine(need, text, start)) boundFourWordsOrLine.add(pattern);
    });
    finders.lines.find(text, (pattern) => lines.add(pattern));
  }
  return { names, boundTwoWords, boundFourWordsOrLine, lines };
}

function sharedWords({ companions }: NameNeed, words: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of words) if (companions.has(word)) shared++;
  return shared;
}

function standsOnWholeLine({ name, lines }: NameNeed, text: string, start: number): boolean {
  if (lines.size === 0) return false;
  const around = lineAround(text, start, start + name.length);
  if (lines.has(bareLine(around))) return true;
  for (const line of lines) if (around.includes(line)) return true;
  return false;
}

function shareOf(kept: readonly boolean[]): Share {
  return { kept: kept.filter((isKept) => isKept).length, of: kept.length };
}

function tokensToReadAgain({ editLines }: Needs, isKept: (index: number) => boolean): number {
  const sources = new Map<number, number>();
  for (const [index, { sourceBlock, sourceTokens }] of editLines.entries()) {
    if (!isKept(index)) sources.set(sourceBlock, sourceTokens);
  }
  return [...sources.values()].reduce((sum, tokens) => sum + tokens, 0);
}

const HANDLE = /rf:\w{1,64}/g;

/**
 * What a model that reads `output` could fetch back by the handles it finds there. A handle is taken to give back the run
 * of the receipt that it names. That is what an archive of everything that left would do; none is asked.
 */
export function retrievableFrom(
  before: readonly Message[],
  output: readonly Message[],
  receipt: Receipt | undefined,
): IsRetrievable {
  const handles = new Set(
    output.flatMap((message) => textsOf(message).flatMap(({ text }) => text.match(HANDLE) ?? [])),
  );
  if (handles.size === 0) return () => false;
  const messages = new Set<number>();
  for (const { start, end, handle } of receipt?.runs ?? []) {
    if (handle === undefined || !handles.has(handle)) continue;
    for (let index = start; index < end; index++) messages.add(index);
  }
  const blocks = before.flatMap((message, index) => textsOf(message).map(() => messages.has(index)));
  return (sourceBlock) => blocks[sourceBlock] === true;
}
