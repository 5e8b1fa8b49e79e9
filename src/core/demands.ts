import { ownWords } from './own-words.ts';

/** Words by which a sentence demands or forbids something, by language. They count as whole words. */
const WORDS: readonly string[] = [
  // English
  "must(?:n['’]?t)?|never|do not|don['’]?t|does not need|only|always|should(?:n['’]?t)?|cannot|can['’]?t|may not|make sure|ensure|avoid|at least|at most|at all costs|under no circumstances|without exception|required?|requires|forbidden|prohibited|not allowed|no more than|no longer than|please keep|instead of|rather than|stop|prefer|mandatory",
  // German
  'muss|müssen|musst|darf|darfst|dürfen|nie|niemals|immer|nicht|keine?[nrsm]?|keinesfalls|nur|mindestens|höchstens|unbedingt|soll|sollen|sollte',
  // French, Spanish, Portuguese, Italian
  'doit|doivent|jamais|toujours|seulement|uniquement|interdit|au moins|au plus|ne pas|debe|deben|nunca|siempre|solo|sólo|prohibido|al menos|deve|devem|devono|sempre|somente|apenas|proibido|mai|soltanto|almeno|vietato',
  // Dutch, Polish, Turkish, Indonesian, Vietnamese
  'nooit|altijd|alleen|moet|moeten|nigdy|zawsze|tylko|musi|nie wolno|asla|sadece|mutlaka|her zaman|jangan|selalu|hanya|harus|không được|luôn|phải',
];

/** The same in scripts where no space parts words, or where letters are none to `\b`. */
const SIGNS =
  'нельзя|никогда|всегда|только|должен|должн|обязательно|не надо|не нужно|не трогай|запрещ|ніколи|завжди|тільки|必须|必須|不要|不得|不能|不可|禁止|只能|务必|務必|永远|切勿|必ず|しないで|してはいけ|のみ|常に|だけ|절대|반드시|항상|하지 마|지 말|يجب|أبدا|دائما|فقط|ممنوع|कभी नहीं|हमेशा|केवल|ज़रूर|אסור|תמיד|רק ';

const DEMAND = new RegExp(`\\b(?:${WORDS.join('|')})\\b|${SIGNS}`, 'gi');

/** Shorter sentences demand nothing that can be named; longer ones are pasted data. */
const SHORTEST = 10;
const LONGEST = 600;
/** In scripts where a sign is a word. */
const SHORTEST_OF_SIGNS = 4;
const SIGN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/**
 * The sentences of a user's text that demand or forbid something, exactly as they were written: each is a piece of one
 * line of the text. One pass over the text.
 */
export function demandsIn(text: string): readonly string[] {
  return demandsOf(ownWords(text));
}

/** The same for a text that is the user's own as a whole. */
export function demandsOf(words: string): readonly string[] {
  const demands: string[] = [];
  let from = 0;
  DEMAND.lastIndex = 0;
  for (let match = DEMAND.exec(words); match !== null; match = DEMAND.exec(words)) {
    const start = sentenceStart(words, match.index, from);
    from = sentenceEnd(words, match.index + match[0].length);
    const sentence = words.slice(start, from).trim();
    if (sentence.length <= LONGEST) {
      if (isLongEnough(sentence)) demands.push(sentence);
    } else demands.push(...demandsInLong(sentence));
    // The next search begins behind this sentence.
    DEMAND.lastIndex = from;
  }
  return demands;
}

/** The first sentence of a text; empty when there is none. */
export function firstSentence(words: string): string {
  const text = words.trimStart();
  return text.slice(0, sentenceEnd(text, 0)).trim();
}

function isLongEnough(sentence: string): boolean {
  return sentence.length >= SHORTEST || (sentence.length >= SHORTEST_OF_SIGNS && SIGN.test(sentence));
}

const LINE_END = 10;
const SPACE = 32;
const END_MARKS = new Set([...'.!?。！？'].map((mark) => mark.charCodeAt(0)));

/** Sentences end with their line, and at an end mark before a space. */
function endsAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === LINE_END || (code === SPACE && END_MARKS.has(text.charCodeAt(index - 1)));
}

function sentenceStart(text: string, index: number, from: number): number {
  let start = index;
  while (start > from && !endsAt(text, start - 1)) start--;
  return start;
}

function sentenceEnd(text: string, index: number): number {
  let end = index;
  while (end < text.length && !endsAt(text, end)) end++;
  return end;
}

/** Scripts without spaces: there an end mark alone ends a sentence. */
function demandsInLong(text: string): readonly string[] {
  return text
    .split(/(?<=[。！？；])/)
    .map((sentence) => sentence.trim())
    .filter(
      (sentence) => sentence.length <= LONGEST && isLongEnough(sentence) && sentence.search(DEMAND) !== -1,
    );
}
