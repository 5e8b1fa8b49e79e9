import { RoundfoldError } from '../conversation/errors.ts';

/** Vocabularies that can be counted exactly: `o200k` (GPT-4o and later), `cl100k` (GPT-4, GPT-3.5). */
export type Encoding = 'o200k' | 'cl100k';

/** What is needed of a tokenizer module. */
export interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: Set<string> }): number;
  clearMergeCache(): void;
}

const importers: Readonly<Record<Encoding, () => Promise<Tokenizer>>> = {
  o200k: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k: () => import('gpt-tokenizer/encoding/cl100k_base'),
};

/**
 * Loads an exact token counter. The optional package `gpt-tokenizer` is imported at the first call, which takes about
 * a quarter of a second and 50 MB; pass `importTokenizer` to bring another module of the same shape.
 *
 * The counter treats special tokens such as `<|endoftext|>` as the plain text they are inside a message. Its time is
 * linear in the length of the text, where the tokenizer alone may need minutes:
 *
 * - an unbroken run of more than 256 characters of one class (128 beyond ASCII) is counted in parts;
 * - of such runs, and of blobs such as base64, the first 50,000 characters in a text are counted in full; the rest is
 *   counted in samples.
 *
 * Texts without such a run, blobs below that size included, count exactly as with the tokenizer alone.
 *
 * @throws RoundfoldError `missing-dependency` when the package cannot be loaded, `usage` for an unknown encoding.
 */
export async function loadExactCounter(
  encoding: Encoding,
  importTokenizer: (() => Promise<Tokenizer>) | undefined = Object.hasOwn(importers, encoding)
    ? importers[encoding]
    : undefined,
): Promise<(text: string) => number> {
  if (importTokenizer === undefined) {
    const known = Object.keys(importers).join(', ');
    throw new RoundfoldError('usage', `unknown encoding ${encoding}`, { remedy: `Use one of ${known}.` });
  }
  const tokenizer = await importOrExplain(importTokenizer);
  const asPlainText = { disallowedSpecial: new Set<string>() };
  let cachedChars = 0;
  const countPart = (part: string): number => {
    cachedChars += part.length;
    if (cachedChars > cacheLimitChars) {
      tokenizer.clearMergeCache();
      cachedChars = part.length;
    }
    return tokenizer.countTokens(part, asPlainText);
  };
  return (text) => countGuarded(text, countPart);
}

async function importOrExplain(importTokenizer: () => Promise<Tokenizer>): Promise<Tokenizer> {
  try {
    return await importTokenizer();
  } catch (error) {
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the third argument
    throw new RoundfoldError('missing-dependency', 'exact counting needs the package gpt-tokenizer', {
      cause: error,
      remedy: 'Run `npm install gpt-tokenizer`, or use the built-in estimate.',
    });
  }
}

type Count = (part: string) => number;

/** From `start` up to and without `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The tokenizer splits a text into words and then needs time quadratic in the bytes of a word. A run may cost so much:
 * 256 ASCII characters, or 128 others. No text written by people was found to reach it.
 */
const runCostLimit = 768;
const asciiCost = 3;
const wideCost = 6;
/** A longer run is cut into parts that cost so much. Blanks always merge to the few tokens that long runs of them have. */
const partCost = 192;
const blankPartCost = runCostLimit;

/** How many characters of runs and blobs in one text are counted in full, and how many of the rest in samples. */
const hardLimitChars = 50_000;
const sampleChars = 1024;

/**
 * The tokenizer caches 100,000 words of two characters and more. Throwing out old ones makes it up to 30 times slower,
 * so the cache is emptied before it can be full; hence long texts are handed over in pieces of about this size.
 */
const pieceChars = 32_768;
const cacheLimitChars = 200_000;

/**
 * Classes of characters, as bits: the pattern that splits words repeats over each of them. A character that may
 * continue two kinds of word has both bits.
 */
const letter = 1;
const symbol = 2;
const blank = 4;
const lineBreakOrSlash = 8;
const digit = 16;
/** Digits form words of three at most, so a run of them is harmless. */
const runClasses = letter | symbol | blank | lineBreakOrSlash;
const wordClasses = runClasses | digit;
/** What base64 and hexadecimal are made of. It is split into many short words of which hardly one occurs twice. */
const blob = 32;

const apostrophe = 0x27;

let loadedClasses: Uint8Array | undefined;

function countGuarded(text: string, count: Count): number {
  let total = 0;
  let start = 0;
  for (const span of tooHardSpans(text)) {
    total += countInPieces(text.slice(start, span.start), count);
    total += countSamples(text.slice(span.start, span.end), count);
    start = span.end;
  }
  return Math.round(total + countInPieces(start === 0 ? text : text.slice(start), count));
}

/** Counts stretches that lie evenly over a text, and scales up. */
function countSamples(text: string, count: Count): number {
  const stride = sampleChars * Math.ceil(text.length / hardLimitChars);
  let tokens = 0;
  let chars = 0;
  for (let start = 0; start < text.length; start += stride) {
    const sample = text.slice(start, start + sampleChars);
    tokens += countInParts(sample, count);
    chars += sample.length;
  }
  return (tokens / chars) * text.length;
}

/** The runs and blobs of a text beyond the number of characters that are counted at any cost; mostly none. */
function tooHardSpans(text: string): readonly Span[] {
  if (text.length <= hardLimitChars) return [];
  const spans: Span[] = [];
  let leftChars = hardLimitChars;
  let lastEnd = 0;
  const hard = [...longRuns(text, runClasses & ~blank), ...longRuns(text, blob)];
  for (const run of hard.sort((left, right) => left.start - right.start)) {
    const start = Math.max(run.start, lastEnd);
    const countedEnd = Math.min(run.end, start + leftChars);
    if (countedEnd < run.end) spans.push({ start: countedEnd, end: run.end });
    leftChars -= Math.max(0, countedEnd - start);
    lastEnd = Math.max(lastEnd, run.end);
  }
  return spans;
}

/** Runs over the limit of characters that share one of the given classes. */
function longRuns(text: string, classes: number): readonly Span[] {
  const runs: Span[] = [];
  let shared = 0;
  let start = 0;
  let cost = 0;
  for (let index = 0; index <= text.length; index++) {
    const unit = text.charCodeAt(index);
    const own = index === text.length ? 0 : classOf(unit) & classes;
    if ((shared & own) === 0) {
      if (cost > runCostLimit) runs.push({ start, end: index });
      shared = own;
      start = index;
      cost = 0;
    }
    shared &= own;
    cost += own === 0 ? 0 : unitCost(unit);
  }
  return runs;
}

function countInPieces(text: string, count: Count): number {
  let total = 0;
  let start = 0;
  while (text.length - start > pieceChars) {
    const end = nextWordEnd(text, start + pieceChars);
    total += countInParts(text.slice(start, end), count);
    start = end;
  }
  return total + countInParts(start === 0 ? text : text.slice(start), count);
}

/**
 * The first place from `start` on where a cut changes no count: letters or digits end, and what follows is plain ASCII
 * that cannot belong to them, as an apostrophe might.
 */
function nextWordEnd(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const before = classOf(text.charCodeAt(index - 1)) & wordClasses;
    const isAfterWord = before === letter || before === digit;
    if (isAfterWord && unit < 0x80 && unit !== apostrophe && (classOf(unit) & before) === 0) return index;
  }
  return text.length;
}

function countInParts(text: string, count: Count): number {
  const cuts = text.length * wideCost <= runCostLimit ? [] : runCuts(text);
  if (cuts.length === 0) return text === '' ? 0 : count(text);
  let total = 0;
  let start = 0;
  for (const cut of cuts) {
    total += count(text.slice(start, cut));
    start = cut;
  }
  return total + count(text.slice(start));
}

/** Where runs that are too long have to be cut; empty for ordinary text. */
function runCuts(text: string): readonly number[] {
  const cuts: number[] = [];
  for (const run of longRuns(text, runClasses)) {
    const limit = classOf(text.charCodeAt(run.start)) === blank ? blankPartCost : partCost;
    let cost = 0;
    for (let index = run.start; index < run.end; index++) {
      const unit = text.charCodeAt(index);
      cost += unitCost(unit);
      // A surrogate pair stays whole.
      if (cost <= limit || isLowSurrogate(unit)) continue;
      cuts.push(index);
      cost = unitCost(unit);
    }
  }
  return cuts;
}

function unitCost(unit: number): number {
  return unit < 0x80 ? asciiCost : wideCost;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function classOf(unit: number): number {
  loadedClasses ??= Uint8Array.from({ length: 0x1_0000 }, (_, index) => classify(String.fromCharCode(index)));
  return loadedClasses[unit] ?? 0;
}

function classify(character: string): number {
  const extra = /[A-Za-z0-9+/=_-]/.test(character) ? blob : 0;
  if (/[\r\n]/.test(character)) return blank | lineBreakOrSlash;
  if (character === '/') return symbol | lineBreakOrSlash | extra;
  if (/\s/.test(character)) return blank;
  if (/\p{N}/u.test(character)) return digit | extra;
  if (/\p{L}/u.test(character)) return letter | extra;
  // Marks go with letters and with symbols. Half of a pair may be half of a letter or of a symbol.
  return /[\p{M}\p{Cs}]/u.test(character) ? letter | symbol : symbol | extra;
}
