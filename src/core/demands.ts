import { ownWords } from './own-words.ts';

/** Words by which a sentence demands or forbids something, in the languages that users write most. */
const DEMANDS: readonly RegExp[] = [
  /\b(?:must|mustn't|never|do not|don't|does not need|only|always|should|shouldn't|cannot|can't|may not|make sure|ensure|avoid|at least|at most|at all costs|under no circumstances|without exception|required?|requires|forbidden|not allowed|no more than|please keep|instead of|rather than|stop|prefer)\b/i,
  /\b(?:muss|müssen|darf|dürfen|nie|niemals|immer|nicht|kein|keine|keinen|nur|mindestens|höchstens|unbedingt)\b/i,
  /\b(?:doit|doivent|jamais|toujours|seulement|uniquement|interdit|au moins|debe|deben|nunca|siempre|solo|sólo|prohibido|al menos|deve|devem|sempre|somente|apenas|mai|soltanto|almeno)\b/i,
  /(?:нельзя|никогда|всегда|только|должен|должн|обязательно|не надо|必须|不要|不得|禁止|只能|务必|永远|切勿|必ず|しないで|してはいけ|のみ|常に|절대|반드시|항상|하지 마)/i,
];

/** Shorter sentences demand nothing that can be named; longer ones are pasted data. */
const SHORTEST = 10;
const LONGEST = 600;

/** The sentences of a user's text that demand or forbid something, exactly as they were written. */
export function demandsIn(text: string): readonly string[] {
  return sentencesOf(ownWords(text)).filter(
    (sentence) =>
      sentence.length >= SHORTEST &&
      sentence.length <= LONGEST &&
      DEMANDS.some((words) => words.test(sentence)),
  );
}

/** Lines and sentences of a text; an end mark counts before a space. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(/(?<=[.!?。！？]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
