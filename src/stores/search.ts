/** Words of texts, as every store indexes and looks for them, and excerpts around them. */
import type { ArchivedSpan, SpanMatch } from './store.ts';

/** Longer words are known by their beginning. */
const MAXIMUM_WORD_LENGTH = 64;

/** An index entry of a database has a limit; words of a text beyond it are not found. */
const MAXIMUM_INDEXED_LENGTH = 200_000;

const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 200;
const SEEN_BEHIND = EXCERPT_LENGTH - EXCERPT_BEFORE;

/** Scripts without blanks between words: each character is a word. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]]+/gv;

/**
 * The different words of a text, as every store indexes and looks for them: runs of letters and digits, in lower case.
 * What is between them separates, so that no word holds syntax of a query language.
 */
export function searchWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  let length = 0;
  for (const [found] of text.toWellFormed().matchAll(WORD)) {
    const word = foldWord(found);
    if (words.has(word)) continue;
    length += word.length;
    if (length > MAXIMUM_INDEXED_LENGTH) break;
    words.add(word);
  }
  return words;
}

/** Whether all words occur in a text. */
export function hasWords(text: string, wanted: ReadonlySet<string>): boolean {
  return wanted.isSubsetOf(searchWords(text));
}

/** A span as a search shows it. */
export function matchOf({ handle, start, end, text }: ArchivedSpan, words: ReadonlySet<string>): SpanMatch {
  return { handle, start, end, excerpt: excerptOf(text, words) };
}

/** A piece of the text around the place where most of the words stand close together, on one line. */
export function excerptOf(text: string, words: ReadonlySet<string>): string {
  const wellFormed = text.toWellFormed();
  const places = [...placesOf(wellFormed, words)];
  const counts = new Map<string, number>();
  let best = { since: 0, index: 0, different: 0 };
  let behind = 0;
  for (const { index, word: leaving } of places) {
    for (let next = places[behind]; next !== undefined && isNear(index, next); next = places[behind]) {
      counts.set(next.word, (counts.get(next.word) ?? 0) + 1);
      behind++;
    }
    // Words that are everywhere may stand long before the others: the last place from which all can be seen is the closest.
    if (counts.size > best.different) best = { since: index, index, different: counts.size };
    else if (counts.size === best.different && index <= best.since + SEEN_BEHIND) best = { ...best, index };
    const left = (counts.get(leaving) ?? 0) - 1;
    if (left > 0) counts.set(leaving, left);
    else counts.delete(leaving);
  }
  return excerptAt(wellFormed, best.index);
}

interface WordPlace {
  readonly index: number;
  readonly word: string;
}

function* placesOf(text: string, words: ReadonlySet<string>): Generator<WordPlace> {
  for (const match of text.matchAll(WORD)) {
    const word = foldWord(match[0]);
    if (words.has(word)) yield { index: match.index, word };
  }
}

/** Whether a word can be seen in a piece around another one in front of it. */
function isNear(index: number, { index: later, word }: WordPlace): boolean {
  return later + word.length <= index + SEEN_BEHIND || later === index;
}

function excerptAt(text: string, place: number): string {
  const start = Math.max(0, place - EXCERPT_BEFORE);
  const end = Math.min(text.length, start + EXCERPT_LENGTH);
  // The cut may go through a surrogate pair.
  const piece = text.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${piece}${end < text.length ? '…' : ''}`;
}

function foldWord(word: string): string {
  return word.normalize('NFC').toLowerCase().slice(0, MAXIMUM_WORD_LENGTH).toWellFormed();
}
