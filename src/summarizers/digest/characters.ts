/** What a UTF-16 unit is to the scanner. */
export const OTHER = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** `_` and `$`, which tie the parts of an identifier together. */
const TIE = 4;
/** What stands inside paths, file names and addresses but in no identifier. */
export const JOINER = 5;
/** What was not asked for yet. */
export const UNKNOWN = 255;

const LETTER = /[\p{L}\p{M}]/u;
const UPPER_LETTER = /\p{Lu}/u;
const NUMBER = /\p{Nd}/u;

/** The classes of all units that were asked for once, those of ASCII in any case. */
export const classes: Uint8Array = new Uint8Array(0x10000).fill(UNKNOWN);
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

const SPACE = 32;
const FIRST_BLANK = 9;
const LAST_BLANK = 13;
const FIRST_WIDE_BLANK = 0xa0;
const WIDE_BLANK = /\s/;

/** Whether a unit is white space: what `trim` takes away. */
export function isBlank(unit: number): boolean {
  if (unit <= SPACE) return unit === SPACE || (unit >= FIRST_BLANK && unit <= LAST_BLANK);
  return unit >= FIRST_WIDE_BLANK && classOf(unit) === OTHER && WIDE_BLANK.test(String.fromCharCode(unit));
}

const UPPER_A = 65;
const UPPER_Z = 90;
const CASE_BIT = 32;
const KELVIN = 0x212a;
const LOWER_K = 107;

/** The small letter for a capital one of ASCII, or for the sign of Kelvin, which has one there; any other unit as it is. */
export function lowerCase(unit: number): number {
  if (unit < 128) return unit >= UPPER_A && unit <= UPPER_Z ? unit | CASE_BIT : unit;
  return unit === KELVIN ? LOWER_K : unit;
}
