import { classOf, DIGIT, JOINER, LOWER, OTHER, UPPER } from './characters.ts';

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
  entity(text: string, shape: number, start: number): void;
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
  for (let start = 0; start < line.length; ) {
    start = classOf(line.charCodeAt(start)) === OTHER ? start + 1 : scanFrom(line, start, listener);
  }
}

/** Takes the run that begins here, and gives its end. */
function scanFrom(line: string, start: number, listener: LineListener): number {
  const end = countRun(line, start);
  if (line.charCodeAt(end) === COLON && isScheme(line, start, end)) {
    return scanAddress(line, start, end, listener);
  }
  if (makeup.joiners > 0) scanRun(line, start, end, listener);
  else nameWord(line, start, end, listener);
  return end;
}

/** What the run that was counted last is made of. One object for all runs, since there are millions of them. */
const makeup = { lower: 0, upper: 0, digits: 0, ties: 0, joiners: 0, humps: 0, isInName: false };

/** Counts the characters of a run, and gives its end. */
function countRun(line: string, start: number): number {
  let end = start;
  let kind = classOf(line.charCodeAt(start));
  let before = OTHER;
  clearMakeup();
  while (kind !== OTHER) {
    countCharacter(kind, before);
    before = kind;
    end++;
    if (end === line.length) break;
    kind = classOf(line.charCodeAt(end));
  }
  return end;
}

/** Counts the characters of a word inside a run, and gives its end. */
function countWord(line: string, start: number, runEnd: number): number {
  let before = OTHER;
  clearMakeup();
  for (let end = start; end < runEnd; end++) {
    const kind = classOf(line.charCodeAt(end));
    if (kind === JOINER || kind === OTHER) return end;
    countCharacter(kind, before);
    before = kind;
  }
  return runEnd;
}

function clearMakeup(): void {
  makeup.lower = 0;
  makeup.upper = 0;
  makeup.digits = 0;
  makeup.ties = 0;
  makeup.joiners = 0;
  makeup.humps = 0;
  makeup.isInName = false;
}

function countCharacter(kind: number, before: number): void {
  if (kind === LOWER) makeup.lower++;
  else if (kind === DIGIT) makeup.digits++;
  else if (kind === JOINER) makeup.joiners++;
  else if (kind !== UPPER) makeup.ties++;
  else {
    makeup.upper++;
    if (before === LOWER) makeup.humps++;
  }
}

/** The word that was counted last: an identifier, a code, a number or a plain word. */
function nameWord(line: string, start: number, end: number, listener: LineListener): void {
  const length = end - start;
  if (length > LONGEST_ENTITY) return;
  const isPlain = makeup.lower === length;
  const shape = isPlain ? -1 : shapeOf(length, classOf(line.charCodeAt(start)) === UPPER);
  if (shape !== -1) listener.entity(line.slice(start, end), shape, start);
  const isWord = (isPlain || shape === SHAPE.name || isLetters(shape, length)) && !makeup.isInName;
  if (isWord && length >= SHORTEST_WORD) listener.word(start, end);
}

/** Whether a word without a shape is letters all the same, such as one of capitals at both ends. */
function isLetters(shape: number, length: number): boolean {
  return shape === -1 && makeup.lower + makeup.upper === length;
}

/** The shape of the word that was counted last; -1 for none. */
function shapeOf(length: number, startsUpper: boolean): number {
  const { lower, upper, digits } = makeup;
  if (lower + upper === 0) return shapeOfDigits(digits);
  if (length < SHORTEST_WORD) return -1;
  if (makeup.ties > 0) return lower === 0 ? SHAPE.capitals : SHAPE.snake;
  if (makeup.humps > 0) return startsUpper ? SHAPE.pascal : SHAPE.camel;
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
  while (end < line.length && !endsAddress.has(line.charCodeAt(end))) end++;
  if (end - start <= LONGEST_ENTITY) listener.entity(line.slice(start, end), SHAPE.address, start);
  scanRun(line, schemeEnd + 3, end, listener);
  return end;
}

/** A run of word characters and joiners: a path, a file name, a code with hyphens, or the words inside it. */
function scanRun(line: string, runStart: number, runEnd: number, listener: LineListener): void {
  let start = runStart;
  let end = runEnd;
  while (end > start && classOf(line.charCodeAt(end - 1)) === JOINER) end--;
  while (start < end && isLooseJoiner(line.charCodeAt(start))) start++;
  const run = measureRun(line, start, end);
  const isName = run.hasJoiner && (namePath(line, run, listener) || nameCode(line, run, listener));
  for (let index = start; index < end; ) {
    const wordEnd = countWord(line, index, end);
    // Words inside a path or a code are no plain words.
    makeup.isInName = isName;
    if (wordEnd > index) nameWord(line, index, wordEnd, listener);
    index = wordEnd + 1;
  }
}

function isLooseJoiner(unit: number): boolean {
  return classOf(unit) === JOINER && unit !== SLASH && unit !== DOT;
}

interface Run {
  readonly start: number;
  readonly end: number;
  readonly hasJoiner: boolean;
  readonly hasHyphen: boolean;
  readonly hasDigit: boolean;
  readonly lastSlash: number;
  readonly slashBefore: number;
  readonly lastDot: number;
}

function measureRun(line: string, start: number, end: number): Run {
  let lastSlash = -1;
  let slashBefore = -1;
  let lastDot = -1;
  let hasJoiner = false;
  let hasHyphen = false;
  let hasDigit = false;
  for (let index = start; index < end; index++) {
    const unit = line.charCodeAt(index);
    const kind = classOf(unit);
    hasDigit ||= kind === DIGIT;
    if (kind !== JOINER) continue;
    hasJoiner = true;
    hasHyphen ||= unit === HYPHEN;
    if (unit === SLASH) {
      slashBefore = lastSlash;
      lastSlash = index;
    } else if (unit === DOT) lastDot = index;
  }
  return { start, end, hasJoiner, hasHyphen, hasDigit, lastSlash, slashBefore, lastDot };
}

/** Paths are known by their last two parts, since tools write them from different folders. */
function namePath(line: string, run: Run, listener: LineListener): boolean {
  const { start, end, lastSlash, slashBefore, lastDot } = run;
  const nameStart = lastSlash === -1 ? start : lastSlash + 1;
  const isFile =
    lastDot > nameStart &&
    end - lastDot <= LONGEST_ENDING + 1 &&
    fileEndings.has(line.slice(lastDot + 1, end).toLowerCase());
  if (isFile && end - nameStart <= LONGEST_ENTITY) {
    listener.entity(line.slice(nameStart, end), SHAPE.file, nameStart);
  }
  const pathStart = slashBefore === -1 ? start : slashBefore + 1;
  const isPath =
    lastSlash > pathStart && end - pathStart >= SHORTEST_PATH && end - pathStart <= LONGEST_ENTITY;
  if (isPath) listener.entity(line.slice(pathStart, end), isFile ? SHAPE.path : SHAPE.folder, pathStart);
  return isFile || isPath;
}

/** Letters, digits and hyphens: `019d7e48-ba4b`, `2026-11-16`, `HAT-204`. */
function nameCode(line: string, { start, end, ...run }: Run, listener: LineListener): boolean {
  const isCode = run.hasHyphen && run.hasDigit && run.lastDot === -1 && end - start <= LONGEST_ENTITY;
  if (isCode) listener.entity(line.slice(start, end), SHAPE.code, start);
  return isCode;
}
