/** What a UTF-16 unit is to the scanner. */
export const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** `_` and `$`, which tie the parts of an identifier together. */
const TIE = 4;
/** What stands inside paths, file names and addresses but in no identifier. */
export const JOINER = 5;
const UNKNOWN = 255;

const LETTER = /[\p{L}\p{M}]/u;
const UPPER_LETTER = /\p{Lu}/u;
const NUMBER = /\p{Nd}/u;

const classes = new Uint8Array(0x10000).fill(UNKNOWN);
for (let unit = 0; unit < 128; unit++) classes[unit] = classify(unit);

/** The class of a UTF-16 unit. Halves of surrogate pairs count as small letters: they never end a word. */
export function classOf(unit: number): number {
  const known = classes[unit] ?? OTHER;
  return known === UNKNOWN ? learn(unit) : known;
}

/** Units beyond ASCII are looked at when they first occur. */
function learn(unit: number): number {
  const found = classify(unit);
  classes[unit] = found;
  return found;
}

function classify(unit: number): number {
  const character = String.fromCharCode(unit);
  if (unit >= 0xd800 && unit <= 0xdfff) return LOWER;
  if (UPPER_LETTER.test(character)) return UPPER;
  if (LETTER.test(character)) return LOWER;
  if (NUMBER.test(character)) return DIGIT;
  if (character === '_' || character === '$') return TIE;
  return './-@~+'.includes(character) ? JOINER : OTHER;
}
