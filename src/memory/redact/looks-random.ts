/** Enough to tell random from written, and little enough to be asked anywhere. */
const SAMPLE_LENGTH = 64;
const LEAST_LENGTH = 8;
const LEAST_LETTERS_ALONE = 10;

/**
 * Whether a value looks made by a generator rather than written by a person: it keeps changing between small and
 * capital letters, digits and signs. Words, names in code, dates and numbers do not, even with a number in them.
 */
export function looksRandom(text: string, start: number, end: number): boolean {
  const { counted, changes, hasLetters, others, unreadable } = shapeOf(text, start, end);
  if (counted < LEAST_LENGTH || !hasLetters) return false;
  // `parseXMLFile`, `exchangeX509Token`: names have no more than one piece that cannot be read.
  if (others <= 1 && unreadable < 2) return false;
  if (others === 0) return counted >= LEAST_LETTERS_ALONE && changes >= counted / 4;
  return changes >= Math.max(3, counted / 8);
}

const LEAST_CHOSEN = 6;

/** Whether a value looks like a password that a person made up: letters and something else, or letters that are no words. */
export function looksChosen(text: string, start: number, end: number): boolean {
  const { counted, changes, hasLetters, others, unreadable } = shapeOf(text, start, end);
  if (counted < LEAST_CHOSEN || !hasLetters) return false;
  return others > 0 || (counted >= LEAST_LENGTH && changes >= 1 && unreadable >= 1);
}

interface Shape {
  /** Characters that tell something: hyphens, underscores, dots and slashes join words and tell nothing. */
  readonly counted: number;
  /** How often small letters, capitals, digits and signs take turns. */
  readonly changes: number;
  readonly hasLetters: boolean;
  /** Runs of digits and signs. */
  readonly others: number;
  /** Pieces between changes to a capital that are one letter long or have no vowel. */
  readonly unreadable: number;
}

const JOINTS = /[-_./]/g;
// Letters of other languages are taken for small ones.
const RUNS = /[A-Z]+|[a-z\u0080-\uffff]+|\d+|[^A-Za-z\d\u0080-\uffff]+/g;
const OTHERS = /[^A-Za-z\u0080-\uffff]+/g;
const PIECES = /[A-Z]+(?![a-z])|[A-Z]?[a-z\u0080-\uffff]+/g;
const READABLE = /[aeiouy\u0080-\uffff]/i;

function shapeOf(text: string, start: number, end: number): Shape {
  const sample = text.slice(start, Math.min(end, start + SAMPLE_LENGTH));
  const telling = sample.replaceAll(JOINTS, '');
  const pieces = sample.match(PIECES) ?? [];
  return {
    counted: telling.length,
    changes: (telling.match(RUNS)?.length ?? 1) - 1,
    hasLetters: pieces.length > 0,
    others: telling.match(OTHERS)?.length ?? 0,
    unreadable: pieces.filter((piece) => piece.length === 1 || !READABLE.test(piece)).length,
  };
}
