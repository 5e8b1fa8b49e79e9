import type { Alphabet } from './alphabet.ts';

/** A secret that says what it is: known letters, then runs of known alphabets, joined by dots. */
export interface TokenKind {
  /** What is written in the place of the secret. */
  readonly kind: string;
  /** To the letter. Of several that fit, the longest is tried first. */
  readonly prefixes: readonly string[];
  readonly parts: readonly Part[];
  /** What has to stand directly in front of the prefix, and belongs to the secret. */
  readonly before?: Part;
  /** Words of other meanings begin with the prefix too. */
  readonly mustLookRandom?: true;
  /** The prefix only announces the secret and stays in the text. */
  readonly keepsPrefix?: true;
}

/** A run of characters of one alphabet. One that is longer than `most` is something else. */
export interface Part {
  readonly alphabet: Alphabet;
  readonly least: number;
  readonly most: number;
  readonly isOptional?: true;
}

/** A run of at least so many characters, and at most so many. */
export function run(alphabet: Alphabet, least: number, most = Number.POSITIVE_INFINITY): Part {
  return { alphabet, least, most };
}

/** A run of exactly so many characters. */
export function exactly(alphabet: Alphabet, length: number): Part {
  return { alphabet, least: length, most: length };
}

/** A run that may be missing, together with the dot in front of it. */
export function optional(alphabet: Alphabet): Part {
  return { alphabet, least: 1, most: Number.POSITIVE_INFINITY, isOptional: true };
}
