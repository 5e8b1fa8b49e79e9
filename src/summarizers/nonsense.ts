import { hasSections } from './document.ts';
import { SUMMARY_ORDERS } from './prompt.ts';

/** Whether an answer repeats what the model was asked instead of doing it. */
export function isEcho(answer: string): boolean {
  return SUMMARY_ORDERS.some((order) => answer.includes(order));
}

/**
 * Whether an answer has nothing to do with what it should be about: none of the sections that were asked for, and not one
 * word that occurs in the source. Prose in any language shares some, if only names.
 */
export function isNonsense(answer: string, source: Iterable<string>): boolean {
  if (hasSections(answer)) return false;
  const words = new Set(wordsIn(answer));
  for (const text of source) for (const word of wordsIn(text)) if (words.has(word)) return false;
  return true;
}

/** Words of four letters and more; pairs of characters where words are not set apart. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2}|[\p{L}\p{N}_]{4,40}/gu;

function* wordsIn(text: string): Iterable<string> {
  for (const [word] of text.matchAll(WORD)) yield word.toLowerCase();
}
