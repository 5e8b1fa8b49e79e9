import { mapSentences } from '../prose.ts';
import { recallMemory } from '../recall.ts';
import { topicWords } from '../sayings/words.ts';
import type { SummaryRequest } from '../summary-request.ts';

/**
 * What the user said, text by text: in messages, where a tool hands it on, and as an earlier memory quotes it. Results,
 * documents, pastes and what a harness adds are nobody's words.
 */
export async function userWords(request: SummaryRequest): Promise<readonly string[]> {
  const { messages, conversation, previousSummary = '', quoted = [] } = request;
  // Loaded with the first summary, as all of the memory is.
  const { readEvents } = await import('../events.ts');
  const all = [...new Set([...conversation.messages, ...messages])];
  const events = readEvents(all, () => false, recallMemory(previousSummary).events);
  return [...quoted, ...events.flatMap((event) => (event.type === 'said' ? [event.text] : []))];
}

/** Characters that are looked through for quotations at most. Quotations beyond that count as invented. */
const LARGEST_SEARCH = 400_000_000;

/** A sentence that tells what the user said or wants. */
const SPEAKS_OF_USER =
  /\busers?(?:['’]s?)? (?:[a-z]{1,20} )?(?:said|says?|ask|want|demand|request|insist|told|tells?|wrote|writes?|requir|order|instruct|prefer|words?|message|correct|approv|confirm|agree|allow|decid)|\b(?:usuario|usuário|utente|utilisateur|Nutzer|Benutzer|Anwender)\b.{0,40}(?:"|[“„«])|(?:用户|使用者|ユーザー?|사용자).{0,20}[“「『"]/iu;
const QUOTATION = /"([^"]+)"|[“„«]([^“”„«»]+)[”“»]|[「『]([^「」『』]+)[」』]/g;

/**
 * The text without sentences that put words into the user's mouth: every quotation in a sentence about what the user said
 * has to occur in `words`, word for word (up to case, punctuation and omissions marked by …). What the user is said to
 * want without any quotation has to use the user's words, at least half of those that tell something.
 */
export function dropFalseQuotes(text: string, words: readonly string[]): string {
  const known = readWords(words);
  return mapSentences(text, (sentence) => {
    if (!SPEAKS_OF_USER.test(sentence)) return sentence;
    const quotations = [...sentence.matchAll(QUOTATION)].map(([, ...groups]) => groups.find(Boolean) ?? '');
    const isTrue =
      quotations.length === 0
        ? usesWords(sentence, known)
        : quotations.every((quotation) => occurs(quotation, known));
    return isTrue ? sentence : undefined;
  });
}

/** What the user wrote, to look things up in. */
interface KnownWords {
  readonly given: readonly string[];
  /** The same, as `bareWords`. */
  readonly texts: readonly string[];
  readonly characters: number;
  /** Computed with the first use. */
  topics: ReadonlySet<string> | undefined;
  /** Characters that may still be looked through. */
  left: number;
}

function readWords(given: readonly string[]): KnownWords {
  const texts = given.map(bareWords);
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return { given, texts, characters, topics: undefined, left: LARGEST_SEARCH };
}

/** Signs that are words by themselves. */
const SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/** The words of a text in lower case, each between two blanks: what is found in it with its blanks cuts no word in two. */
function bareWords(text: string): string {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
    .replaceAll(SIGN, ' $& ');
  return ` ${plain} `.replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ');
}

/** Fragments of a quotation with omissions must tell something, or any sentence could be pieced together from words. */
const SHORTEST_FRAGMENT = 10;

function occurs(quotation: string, words: KnownWords): boolean {
  const fragments = quotation
    .split(/…|\.{3}/)
    .map(bareWords)
    .filter((fragment) => fragment !== ' ');
  if (fragments.length === 0) return false;
  if (fragments.length > 1 && fragments.some(({ length }) => length < SHORTEST_FRAGMENT)) return false;
  words.left -= words.characters;
  return words.left >= 0 && words.texts.some((text) => occurInOrder(fragments, text));
}

function occurInOrder(fragments: readonly string[], text: string): boolean {
  let from = 0;
  for (const fragment of fragments) {
    const at = text.indexOf(fragment, from);
    if (at < 0) return false;
    // The blank behind a fragment is the one in front of the next.
    from = at + fragment.length - 1;
  }
  return true;
}

/** Words by which a sentence speaks of the user at all, without their endings. */
const SPEAKING = topicWords(
  'user users asks asked demands request insists told tells wrote writes requires orders instructs prefers message corrected confirms approves agrees allows decided explicitly clearly',
);

/** Whether at least half of what a sentence is about are words of the user's. */
function usesWords(sentence: string, words: KnownWords): boolean {
  const told = [...topicWords(sentence)].filter((word) => !SPEAKING.has(word));
  words.topics ??= new Set(words.given.flatMap((text) => [...topicWords(text)]));
  const { topics } = words;
  return told.filter((word) => topics.has(word)).length * 2 >= told.length;
}
