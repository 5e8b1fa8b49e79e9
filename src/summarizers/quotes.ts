import type { Message } from '../core/message.ts';
import { readSummaryMessage } from '../core/summary-message.ts';
import type { SummaryEntry } from './document.ts';
import { sectionOf } from './sections.ts';

/** What the user wrote, text by text. Tool results and summaries of ours are nobody's words. */
export function userWords(messages: readonly Message[]): readonly string[] {
  return messages
    .filter((message) => message.role === 'user' && readSummaryMessage(message) === undefined)
    .flatMap(({ blocks }) => blocks.map((block) => (block.type === 'text' ? block.text : '')))
    .filter((text) => text !== '');
}

/** Characters that are looked through for quotations at most. Quotations beyond that count as invented. */
const LARGEST_SEARCH = 400_000_000;

/**
 * The entries without those that put words into the user's mouth: what counts as the user's words by the rules of its
 * section has to occur in `words` (up to case, blanks, quotation marks and omissions marked by …). What the user is said
 * to want without any quotation has to use the user's words, at least half of those that tell something. Of an entry
 * that must be the user's words as a whole, comments around the quotation go.
 */
export function verifyQuotes(
  entries: readonly SummaryEntry[],
  words: readonly string[],
): readonly SummaryEntry[] {
  const known = readWords(words);
  return entries.map((entry) => verifyEntry(entry, known)).filter((entry) => entry !== undefined);
}

/** What the user wrote, to look things up in. */
interface KnownWords {
  readonly texts: readonly string[];
  readonly characters: number;
  /** Made when somebody asks. */
  stems: ReadonlySet<string> | undefined;
  /** Characters that may still be looked through. */
  left: number;
}

function readWords(words: readonly string[]): KnownWords {
  const texts = words.map(normaliseWords);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return { texts, characters, stems: undefined, left: LARGEST_SEARCH };
}

function verifyEntry(entry: SummaryEntry, words: KnownWords): SummaryEntry | undefined {
  if (entry.action === 'close') return entry;
  const { checks } = sectionOf(entry.section);
  if (checks === 'whole') {
    const text = quotationIn(entry.text);
    return occurs(text, words) ? { ...entry, text } : undefined;
  }
  const isTrue = (text: string) => {
    const speaksOfUser = SPEAKS_OF_USER.test(text);
    if (checks === 'attributed' && !speaksOfUser) return true;
    const quotations = quotationsIn(text);
    return quotations.length === 0
      ? !speaksOfUser || usesWords(text, words)
      : quotations.every((quote) => occurs(quote, words));
  };
  if (isTrue(entry.text)) return entry;
  // A note may be a whole summary: one false line must not take the others with it.
  const text = entry.section === 'notes' ? entry.text.split('\n').filter(isTrue).join('\n') : '';
  return text !== '' && isTrue(text) ? { ...entry, text } : undefined;
}

const SPEAKS_OF_USER =
  /\busers?(?:['’]s?)? (?:[a-z]{1,20} )?(?:said|says?|ask|want|demand|request|insist|told|tells?|wrote|writes?|requir|order|instruct|prefer|words?|message|correct|approv|confirm|agree|allow|decid)/i;
const QUOTATION = /"([^"]+)"|[“„«]([^“”„«»]+)[”“»]/g;
const QUOTATION_MARK = /["“”„«»]/;

function quotationsIn(text: string): readonly string[] {
  return [...text.matchAll(QUOTATION)].map(([, straight, curly]) => straight ?? curly ?? '');
}

/** From the first quotation mark to the last; the whole text when it does not begin with one. */
function quotationIn(text: string): string {
  if (!QUOTATION_MARK.test(text.slice(0, 1))) return text;
  const last = [...text.matchAll(new RegExp(QUOTATION_MARK, 'g'))].at(-1)?.index ?? 0;
  return last === 0 ? text : text.slice(0, last + 1);
}

/** Fragments of a quotation with omissions must tell something, or any sentence could be pieced together from words. */
const SHORTEST_FRAGMENT = 8;

function occurs(quote: string, words: KnownWords): boolean {
  const fragments = normaliseWords(quote)
    .split('...')
    .map(trimEdges)
    .filter((fragment) => fragment !== '');
  if (fragments.length === 0) return false;
  if (fragments.length > 1 && fragments.some(({ length }) => length < SHORTEST_FRAGMENT)) return false;
  words.left -= words.characters;
  return words.left >= 0 && words.texts.some((text) => occurInOrder(fragments, text));
}

/** A word tells something from this length on, and is known by its beginning: `deploy`, `deployed`. */
const SHORTEST_TOLD = 4;
const STEM = 5;
const TELLING_WORD = /\p{L}{4,40}/gu;
const NOTHING_TOLD = new Set(
  'user users said says asks asked want wants wanted demand demands demanded request requested insist insists insisted told tell tells wrote write require requires required order orders ordered instruct instructs instructed prefer prefers preferred message confirm confirmed approve approved agree agreed allow allowed decide decided that this with from have been were will would should must also only them they their then than into about explicitly clearly'.split(
    ' ',
  ),
);

/** Whether at least half of the words of a text that tell something are the user's. */
function usesWords(text: string, words: KnownWords): boolean {
  const told = tellingWords(normaliseWords(text)).filter((word) => !NOTHING_TOLD.has(word));
  if (told.length === 0) return true;
  words.stems ??= new Set(words.texts.flatMap((own) => tellingWords(own).map(stemOf)));
  const { stems } = words;
  return told.filter((word) => stems.has(stemOf(word))).length * 2 >= told.length;
}

function tellingWords(text: string): readonly string[] {
  return text.length < SHORTEST_TOLD ? [] : (text.match(TELLING_WORD) ?? []);
}

function stemOf(word: string): string {
  return word.slice(0, STEM);
}

function occurInOrder(fragments: readonly string[], text: string): boolean {
  let from = 0;
  for (const fragment of fragments) {
    const at = findWhole(fragment, text, from);
    if (at < 0) return false;
    from = at + fragment.length;
  }
  return true;
}

/** Where the fragment stands without cutting a word in two, or -1. */
function findWhole(fragment: string, text: string, from: number): number {
  for (let at = text.indexOf(fragment, from); at >= 0; at = text.indexOf(fragment, at + fragment.length)) {
    const end = at + fragment.length;
    if (!isInsideWord(text, at) && !isInsideWord(text, end)) return at;
  }
  return -1;
}

const WORD_CHARACTER = /[a-z0-9]/;

function isInsideWord(text: string, index: number): boolean {
  return WORD_CHARACTER.test(text.charAt(index - 1)) && WORD_CHARACTER.test(text.charAt(index));
}

/** One line, lower case, plain quotation marks, nothing invisible. `…` becomes three dots. */
function normaliseWords(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[“”„«»]/g, '"')
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
}

const EDGES = new Set(' "\'.,;:!?()[]*_`');

/** By hand: a pattern for the end of a text is quadratic on runs of what it looks for. */
function trimEdges(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && EDGES.has(text.charAt(start))) start++;
  while (end > start && EDGES.has(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
