/** Enough to tell random from written, and little enough to be asked anywhere. */
const SAMPLE_LENGTH = 64;
const LEAST_LENGTH = 8;
const LEAST_LETTERS_ALONE = 12;

/**
 * Whether a value looks made by a generator rather than written by a person: it keeps changing between small and
 * capital letters, digits and signs. Words, names in code, dates and numbers do not, even with a digit at their end.
 */
export function looksRandom(text: string, start: number, end: number): boolean {
  const last = Math.min(end, start + SAMPLE_LENGTH);
  const counts = new Map<CharacterClass, number>();
  let changes = 0;
  let counted = 0;
  let before: CharacterClass | undefined;
  for (let index = start; index < last; index++) {
    const found = classOf(text.charCodeAt(index));
    if (found === 'joint') continue;
    if (before !== undefined && found !== before) changes++;
    before = found;
    counted++;
    counts.set(found, (counts.get(found) ?? 0) + 1);
  }
  if (counted < LEAST_LENGTH || !(counts.has('lower') || counts.has('upper'))) return false;
  const isLettersAlone = !counts.has('digit') && !counts.has('sign');
  // camelCase changes twice per word, and words are longer than five letters on average.
  if (isLettersAlone) return counted >= LEAST_LETTERS_ALONE && changes >= 0.4 * counted;
  return changes >= Math.max(3, counted / 8);
}

type CharacterClass = 'lower' | 'upper' | 'digit' | 'sign' | 'joint';

/** Hyphens, underscores, dots and slashes join words and tell nothing. */
const JOINTS: ReadonlySet<number> = new Set(['-', '_', '.', '/'].map((joint) => joint.charCodeAt(0)));

function classOf(code: number): CharacterClass {
  if (code >= 97 && code <= 122) return 'lower';
  if (code >= 65 && code <= 90) return 'upper';
  if (code >= 48 && code <= 57) return 'digit';
  return JOINTS.has(code) ? 'joint' : 'sign';
}
