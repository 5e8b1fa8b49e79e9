/** Longer words are known by their beginning. */
const MAXIMUM_WORD_LENGTH = 64;

/** An index entry of a database has a limit; words of a text beyond it are not found. */
const MAXIMUM_INDEXED_LENGTH = 200_000;

const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 200;

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

/** A piece of the text around the first of the words, on one line. */
export function excerptOf(text: string, words: ReadonlySet<string>): string {
  const wellFormed = text.toWellFormed();
  let place = 0;
  for (const match of wellFormed.matchAll(WORD)) {
    if (!words.has(foldWord(match[0]))) continue;
    place = match.index;
    break;
  }
  const start = Math.max(0, place - EXCERPT_BEFORE);
  const end = Math.min(wellFormed.length, start + EXCERPT_LENGTH);
  // The cut may go through a surrogate pair.
  const piece = wellFormed.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${piece}${end < wellFormed.length ? '…' : ''}`;
}

function foldWord(word: string): string {
  return word.normalize('NFC').toLowerCase().slice(0, MAXIMUM_WORD_LENGTH).toWellFormed();
}
