import { DEMANDING, IDLE, QUESTION, REQUEST } from './demanding-words.ts';

/** Shorter sentences demand nothing that can be named; longer ones are pasted data. */
const SHORTEST = 10;
const LONGEST = 600;
/** In scripts where a sign is a word. */
const SHORTEST_OF_SIGNS = 4;
const SIGN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/**
 * The sentences by which the user demands or forbids something, exactly as they were written: each is a piece of one line.
 * Questions and statements are none, whatever words they hold.
 * @param words what the user wrote, without what others did: see `ownWords`
 */
export function demandsOf(words: string): readonly string[] {
  const demands: string[] = [];
  for (let start = 0; start < words.length; ) {
    const end = sentenceEnd(words, start);
    const sentence = words.slice(start, end).trim();
    if (sentence.length > LONGEST)
      demands.push(
        ...sentence
          .split(/(?<=；)/)
          .map(trim)
          .filter(isDemand),
      );
    else if (isDemand(sentence)) demands.push(sentence);
    start = end + 1;
    if (isWideMark(words, end - 1) && words.charCodeAt(end) !== LINE_END) start = end;
  }
  return demands;
}

/** The first sentence of a text; empty when there is none. */
export function firstSentence(words: string): string {
  const text = words.trimStart();
  return text.slice(0, sentenceEnd(text, 0)).trim();
}

function isDemand(sentence: string): boolean {
  if (sentence.length > LONGEST || !isLongEnough(sentence)) return false;
  if (REQUEST.test(sentence)) return true;
  return !QUESTION.test(sentence) && DEMANDING.test(sentence.replaceAll(IDLE, ' ~ '));
}

function isLongEnough(sentence: string): boolean {
  return sentence.length >= SHORTEST || (sentence.length >= SHORTEST_OF_SIGNS && SIGN.test(sentence));
}

function trim(text: string): string {
  return text.trim();
}

const LINE_END = 10;
const SPACE = 32;
const codesOf = (marks: string) => new Set([...marks].map((mark) => mark.charCodeAt(0)));
const MARKS = codesOf('.!?。！？');
/** Marks of scripts in which no space parts sentences. */
const WIDE_MARKS = codesOf('。！？');

function isWideMark(text: string, index: number): boolean {
  return WIDE_MARKS.has(text.charCodeAt(index));
}

/** Sentences end with their line, at an end mark before a space, and behind a wide one. */
function sentenceEnd(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === LINE_END || (code === SPACE && index > from && MARKS.has(text.charCodeAt(index - 1))))
      return index;
    if (WIDE_MARKS.has(code)) return index + 1;
  }
  return text.length;
}
