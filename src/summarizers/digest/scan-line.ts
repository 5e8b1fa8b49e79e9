import { classes, DIGIT, JOINER, LOWER, lowerCase, OTHER, UPPER } from './characters.ts';
import { baseCost, behindIndent, costOfUnit, withUnits } from './line-cost.ts';
import { units } from './line-units.ts';
import { FIRST_HASH, hashOf, nameTableOf, nextHash } from './name-table.ts';

/** The shapes of what a text names. Their numbers are part of the fitted weights. */
export const SHAPE = {
  /** The last two parts of a path to a file. */
  path: 0,
  file: 1,
  address: 2,
  snake: 3,
  camel: 4,
  pascal: 5,
  capitals: 6,
  code: 7,
  number: 8,
  /** A word with a capital: a name, or the first word of a sentence. */
  name: 9,
  /** A number of two or three digits. */
  amount: 10,
  /** The last two parts of a path that ends without a file name. */
  folder: 11,
} as const;

/** Hears what stands in a line. */
export interface LineListener {
  /** Something that is named: an identifier, a path, an address, a number. Places are those in `units`. */
  entity(start: number, end: number, shape: number, hash: number): void;
  /** A word of plain language, outside of names. */
  word(start: number, end: number): void;
}

const FILE_ENDINGS =
  'c cc cfg cjs clj cmake conf cpp cs css csv cts dart db diff dockerfile env erl ex exs gif go golden gradle graphql ' +
  'gz h hpp hs htm html ico ini ipynb jar java jl jpeg jpg js json jsonl jsx key kt less lock log lua m map md mdx ' +
  'mjs mk ml mod mts nim patch pdf pem php pl plist png po proto ps1 py pyi r rb rs rst sass scala scss sh snap sol ' +
  'sql sqlite sum svelte svg swift tar tf toml ts tsv tsx txt vue wasm webp xlsx xml yaml yml zig zip zsh';
const LONGEST_ENDING = 11;
const SLASH = 47;
const DOT = 46;
const COLON = 58;
const HYPHEN = 45;
const SHORTEST_PATH = 5;
const SHORTEST_WORD = 3;
const LONGEST_ENTITY = 120;
const LONGEST_SCHEME = 8;
/** So many units are of ASCII. */
const ASCII = 128;

/**
 * Tells the listener of every entity and plain word of this stretch of `units`, in one pass, and gives about how many tokens
 * it takes as a line. A path comes before the names inside it. What stands behind the stretch has to be of no class, so that
 * it ends every run.
 */
export function scanUnits(from: number, to: number, listener: LineListener): number {
  const line = units;
  const kindOf = classes;
  let at = behindIndent(from, to);
  let cost = baseCost(at, to);
  for (;;) {
    let unit = line[at] ?? 0;
    while (kindOf[unit] === OTHER) {
      if (at >= to) return cost;
      cost += costOfUnit(unit);
      unit = line[++at] ?? 0;
    }
    const start = at;
    at = readWord(start);
    unit = line[at] ?? 0;
    if (kindOf[unit] === JOINER || unit === COLON) {
      at = scanFrom(start, at, to, listener);
      cost = withUnits(cost, start, at);
    } else {
      // Most words are letters of ASCII, which cost nothing beside their length.
      if (allUnits >= ASCII || !isLetters(at - start)) cost = withUnits(cost, start, at);
      nameWord(start, at, false, listener);
    }
  }
}

/** Takes the run that begins with this word, and gives its end. */
function scanFrom(start: number, wordEnd: number, to: number, listener: LineListener): number {
  const line = units;
  const kindOf = classes;
  let end = wordEnd;
  let slash = -1;
  let slashBefore = -1;
  let dot = -1;
  for (let unit = line[end] ?? 0; kindOf[unit] !== OTHER; unit = line[++end] ?? 0) {
    if (unit === SLASH) {
      slashBefore = slash;
      slash = end;
    } else if (unit === DOT) dot = end;
  }
  if (line[end] === COLON && isScheme(start, end)) return scanAddress(start, end, to, listener);
  if (end === wordEnd) nameWord(start, end, false, listener);
  else if (kindOf[line[end - 1] ?? 0] === JOINER) scanRun(start, end, listener);
  else scanParts(behindJoiners(start, end), end, { slash, slashBefore, dot }, listener);
  return end;
}

/**
 * How many small letters, capitals, digits and capitals behind small letters the word has that was read last, in a byte each.
 * Longer words than bytes can count are of no interest.
 */
let makeup = 0;
/** The hash of that word. */
let wordHash = 0;
/** The bits of all of its units. */
let allUnits = 0;
const KIND_BITS = 3;
const UPPER_BITS = 8;
const DIGIT_BITS = 16;
const HUMP_BITS = 24;
const BYTE = 255;
/** What a character adds to the makeup, by its class and the class of the one before it. */
const additions = new Int32Array(1 << (KIND_BITS * 2));
for (let before = 0; before <= JOINER; before++) {
  additions[(before << KIND_BITS) | LOWER] = 1;
  additions[(before << KIND_BITS) | UPPER] = (1 << UPPER_BITS) + (before === LOWER ? 1 << HUMP_BITS : 0);
  additions[(before << KIND_BITS) | DIGIT] = 1 << DIGIT_BITS;
}

/** Reads the word that begins here, and gives its end; the same place where there is none. */
function readWord(start: number): number {
  const line = units;
  const kindOf = classes;
  let end = start;
  let sum = 0;
  let hash = FIRST_HASH;
  let bits = 0;
  let before = OTHER;
  for (;;) {
    const unit = line[end] ?? 0;
    const kind = kindOf[unit] ?? OTHER;
    if (kind === OTHER || kind === JOINER) break;
    sum = (sum + (additions[(before << KIND_BITS) | kind] ?? 0)) | 0;
    hash = nextHash(hash, unit);
    bits |= unit;
    before = kind;
    end++;
  }
  makeup = sum;
  wordHash = hash;
  allUnits = bits;
  return end;
}

/** The word that was read last: an identifier, a code, a number or a plain word. Those inside a path or a code are no plain words. */
function nameWord(start: number, end: number, isInName: boolean, listener: LineListener): void {
  const length = end - start;
  if (length > LONGEST_ENTITY) return;
  if (makeup === length) {
    if (!isInName && length >= SHORTEST_WORD) listener.word(start, end);
    return;
  }
  const shape = shapeOf(length, classes[units[start] ?? 0] === UPPER);
  if (shape !== -1) listener.entity(start, end, shape, wordHash);
  if (isInName || length < SHORTEST_WORD) return;
  if (shape === SHAPE.name || (shape === -1 && isLetters(length))) listener.word(start, end);
}

/** Whether a word without a shape is letters all the same, such as one of capitals at both ends. */
function isLetters(length: number): boolean {
  return (makeup & BYTE) + ((makeup >> UPPER_BITS) & BYTE) === length;
}

/** The shape of the word that was read last; -1 for none. */
function shapeOf(length: number, startsUpper: boolean): number {
  const lower = makeup & BYTE;
  const upper = (makeup >> UPPER_BITS) & BYTE;
  const digits = (makeup >> DIGIT_BITS) & BYTE;
  if (lower + upper === 0) return shapeOfDigits(digits);
  if (length < SHORTEST_WORD) return -1;
  if (lower + upper + digits < length) return lower === 0 ? SHAPE.capitals : SHAPE.snake;
  if (makeup >> HUMP_BITS > 0) return startsUpper ? SHAPE.pascal : SHAPE.camel;
  if (digits > 0) return SHAPE.code;
  if (lower === 0) return SHAPE.capitals;
  if (!startsUpper || lower < 2) return -1;
  return upper > 1 ? SHAPE.pascal : SHAPE.name;
}

function shapeOfDigits(digits: number): number {
  if (digits >= 4) return SHAPE.number;
  return digits >= 2 ? SHAPE.amount : -1;
}

function isScheme(start: number, end: number): boolean {
  const isShort = end - start >= 2 && end - start <= LONGEST_SCHEME;
  return isShort && units[end + 1] === SLASH && units[end + 2] === SLASH;
}

const endsAddress = new Set([...' \t"\'`<>)]}|\\,;'].map((character) => character.charCodeAt(0)));

function scanAddress(start: number, schemeEnd: number, to: number, listener: LineListener): number {
  let end = schemeEnd;
  while (end < to && !endsAddress.has(units[end] ?? 0)) end++;
  nameStretch(start, end, SHAPE.address, listener);
  scanRun(schemeEnd + 3, end, listener);
  return end;
}

function nameStretch(start: number, end: number, shape: number, listener: LineListener): void {
  if (end - start <= LONGEST_ENTITY) listener.entity(start, end, shape, hashOf(start, end));
}

/** A run of word characters and joiners that may end with joiners. */
function scanRun(runStart: number, runEnd: number, listener: LineListener): void {
  let end = runEnd;
  while (end > runStart && classes[units[end - 1] ?? 0] === JOINER) end--;
  const start = behindJoiners(runStart, end);
  const slash = lastOf(SLASH, start, end);
  const slashBefore = slash === -1 ? -1 : lastOf(SLASH, start, slash);
  scanParts(start, end, { slash, slashBefore, dot: lastOf(DOT, start, end) }, listener);
}

function behindJoiners(start: number, end: number): number {
  let index = start;
  while (index < end && isLooseJoiner(units[index] ?? 0)) index++;
  return index;
}

function isLooseJoiner(unit: number): boolean {
  return classes[unit] === JOINER && unit !== SLASH && unit !== DOT;
}

/** Where a joiner last stands in a stretch; -1 for nowhere. */
function lastOf(joiner: number, start: number, end: number): number {
  let index = end - 1;
  while (index >= start && units[index] !== joiner) index--;
  return index < start ? -1 : index;
}

/** Where the last two slashes and the last dot of a run stand; -1 for nowhere. */
interface Joints {
  readonly slash: number;
  readonly slashBefore: number;
  readonly dot: number;
}

/** A path, a file name, a code with hyphens, or the words inside it. */
function scanParts(start: number, end: number, joints: Joints, listener: LineListener): void {
  const isName =
    ((joints.slash !== -1 || joints.dot !== -1) && namePath(start, end, joints, listener)) ||
    (joints.dot === -1 && nameCode(start, end, listener));
  for (let index = start; index < end; ) {
    const next = Math.min(end, readWord(index));
    if (next > index) nameWord(index, next, isName, listener);
    index = next + 1;
  }
}

/** Paths are known by their last two parts, since tools write them from different folders. */
function namePath(
  start: number,
  end: number,
  { slash, slashBefore, dot }: Joints,
  listener: LineListener,
): boolean {
  const nameStart = slash === -1 ? start : slash + 1;
  const isFile = dot > nameStart && isFileEnding(dot + 1, end);
  if (isFile) nameStretch(nameStart, end, SHAPE.file, listener);
  const pathStart = slashBefore === -1 ? start : slashBefore + 1;
  const isPath = slash > pathStart && end - pathStart >= SHORTEST_PATH && end - pathStart <= LONGEST_ENTITY;
  if (isPath) nameStretch(pathStart, end, isFile ? SHAPE.path : SHAPE.folder, listener);
  return isFile || isPath;
}

const fileEndings = nameTableOf(FILE_ENDINGS.split(' '));

function isFileEnding(start: number, end: number): boolean {
  if (end - start > LONGEST_ENDING) return false;
  let hash = FIRST_HASH;
  let hasCapital = false;
  for (let index = start; index < end; index++) {
    const unit = units[index] ?? 0;
    hash = nextHash(hash, unit);
    hasCapital ||= lowerCase(unit) !== unit;
  }
  return hasCapital ? isCapitalEnding(start, end) : fileEndings.find(start, end, hash) !== -1;
}

const capitals = new Uint16Array(LONGEST_ENDING);

/** The same for `README.MD`, in small letters for so long. */
function isCapitalEnding(start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    capitals[index - start] = units[index] ?? 0;
    units[index] = lowerCase(units[index] ?? 0);
  }
  const isKnown = fileEndings.find(start, end, hashOf(start, end)) !== -1;
  for (let index = start; index < end; index++) units[index] = capitals[index - start] ?? 0;
  return isKnown;
}

/** Letters, digits and hyphens: `019d7e48-ba4b`, `2026-11-16`, `HAT-204`. */
function nameCode(start: number, end: number, listener: LineListener): boolean {
  if (end - start > LONGEST_ENTITY) return false;
  let hasHyphen = false;
  let hasDigit = false;
  for (let index = start; index < end; index++) {
    const unit = units[index] ?? 0;
    hasHyphen ||= unit === HYPHEN;
    hasDigit ||= classes[unit] === DIGIT;
  }
  const isCode = hasHyphen && hasDigit;
  if (isCode) nameStretch(start, end, SHAPE.code, listener);
  return isCode;
}
