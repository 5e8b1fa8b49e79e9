import { DIGIT, JOINER, LOWER, OTHER, UPPER } from './characters.ts';
import { kinds, MOST_UNITS, readUnits, units } from './line-units.ts';

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
  /** Something that is named: an identifier, a path, an address, a number. */
  entity(start: number, end: number, shape: number): void;
  /** A word of plain language, outside of names. */
  word(start: number, end: number): void;
}

const fileEndings = new Set(
  (
    'c cc cfg cjs clj cmake conf cpp cs css csv cts dart db diff dockerfile env erl ex exs gif go golden gradle graphql ' +
    'gz h hpp hs htm html ico ini ipynb jar java jl jpeg jpg js json jsonl jsx key kt less lock log lua m map md mdx ' +
    'mjs mk ml mod mts nim patch pdf pem php pl plist png po proto ps1 py pyi r rb rs rst sass scala scss sh snap sol ' +
    'sql sqlite sum svelte svg swift tar tf toml ts tsv tsx txt vue wasm webp xlsx xml yaml yml zig zip zsh'
  ).split(' '),
);
const LONGEST_ENDING = 11;
const SLASH = 47;
const DOT = 46;
const COLON = 58;
const HYPHEN = 45;
const SHORTEST_PATH = 5;
const SHORTEST_WORD = 3;
const LONGEST_ENTITY = 120;
const LONGEST_SCHEME = 8;

/** Tells the listener of every entity and plain word of a line, in one pass. A path comes before the names inside it. */
export function scanLine(line: string, listener: LineListener): void {
  const length = readUnits(line);
  for (let start = 0; start < length; ) {
    start = kinds[start] === OTHER ? start + 1 : scanFrom(line, start, listener);
  }
}

/** Takes the run that begins here, and gives its end. */
function scanFrom(line: string, start: number, listener: LineListener): number {
  const end = readWord(start);
  if (kinds[end] !== JOINER) {
    if (units[end] === COLON && isScheme(line, start, end)) return scanAddress(line, start, end, listener);
    nameWord(start, end, false, listener);
    return end;
  }
  let runEnd = end;
  while (kinds[runEnd] !== OTHER) runEnd++;
  if (units[runEnd] === COLON && isScheme(line, start, runEnd)) {
    return scanAddress(line, start, runEnd, listener);
  }
  scanRun(line, start, runEnd, listener);
  return runEnd;
}

/**
 * How many small letters, capitals, digits and capitals behind small letters the word has that was read last, in a byte each.
 * Longer words than bytes can count are of no interest.
 */
let makeup = 0;
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
  let end = start;
  let sum = 0;
  let before = OTHER;
  for (let kind = kinds[end] ?? OTHER; kind !== OTHER && kind !== JOINER; kind = kinds[end] ?? OTHER) {
    sum += additions[(before << KIND_BITS) | kind] ?? 0;
    before = kind;
    end++;
  }
  makeup = sum;
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
  const shape = shapeOf(length, kinds[start] === UPPER);
  if (shape !== -1) listener.entity(start, end, shape);
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

function isScheme(line: string, start: number, end: number): boolean {
  const isShort = end - start >= 2 && end - start <= LONGEST_SCHEME;
  return isShort && line.startsWith('//', end + 1);
}

const endsAddress = new Set([...' \t"\'`<>)]}|\\,;'].map((character) => character.charCodeAt(0)));

function scanAddress(line: string, start: number, schemeEnd: number, listener: LineListener): number {
  let end = schemeEnd;
  while (end < line.length && end < MOST_UNITS && !endsAddress.has(units[end] ?? 0)) end++;
  if (end - start <= LONGEST_ENTITY) listener.entity(start, end, SHAPE.address);
  scanRun(line, schemeEnd + 3, end, listener);
  return end;
}

/** A run of word characters and joiners: a path, a file name, a code with hyphens, or the words inside it. */
function scanRun(line: string, runStart: number, runEnd: number, listener: LineListener): void {
  let start = runStart;
  let end = runEnd;
  while (end > start && kinds[end - 1] === JOINER) end--;
  while (start < end && isLooseJoiner(start)) start++;
  const isName = namePath(line, start, end, listener) || nameCode(start, end, listener);
  for (let index = start; index < end; ) {
    const next = Math.min(end, readWord(index));
    if (next > index) nameWord(index, next, isName, listener);
    index = next + 1;
  }
}

function isLooseJoiner(index: number): boolean {
  return kinds[index] === JOINER && units[index] !== SLASH && units[index] !== DOT;
}

/** Where a joiner last stands in a stretch; -1 for nowhere. */
function lastOf(joiner: number, start: number, end: number): number {
  let index = end - 1;
  while (index >= start && units[index] !== joiner) index--;
  return index < start ? -1 : index;
}

/** Paths are known by their last two parts, since tools write them from different folders. */
function namePath(line: string, start: number, end: number, listener: LineListener): boolean {
  const lastSlash = lastOf(SLASH, start, end);
  const lastDot = lastOf(DOT, start, end);
  if (lastSlash === -1 && lastDot === -1) return false;
  const nameStart = lastSlash === -1 ? start : lastSlash + 1;
  const isFile =
    lastDot > nameStart &&
    end - lastDot <= LONGEST_ENDING + 1 &&
    fileEndings.has(line.slice(lastDot + 1, end).toLowerCase());
  if (isFile && end - nameStart <= LONGEST_ENTITY) {
    listener.entity(nameStart, end, SHAPE.file);
  }
  const slashBefore = lastSlash === -1 ? -1 : lastOf(SLASH, start, lastSlash);
  const pathStart = slashBefore === -1 ? start : slashBefore + 1;
  const isPath =
    lastSlash > pathStart && end - pathStart >= SHORTEST_PATH && end - pathStart <= LONGEST_ENTITY;
  if (isPath) listener.entity(pathStart, end, isFile ? SHAPE.path : SHAPE.folder);
  return isFile || isPath;
}

/** Letters, digits and hyphens: `019d7e48-ba4b`, `2026-11-16`, `HAT-204`. */
function nameCode(start: number, end: number, listener: LineListener): boolean {
  if (end - start > LONGEST_ENTITY) return false;
  let hasHyphen = false;
  let hasDigit = false;
  for (let index = start; index < end; index++) {
    if (units[index] === DOT) return false;
    hasHyphen ||= units[index] === HYPHEN;
    hasDigit ||= kinds[index] === DIGIT;
  }
  const isCode = hasHyphen && hasDigit;
  if (isCode) listener.entity(start, end, SHAPE.code);
  return isCode;
}
