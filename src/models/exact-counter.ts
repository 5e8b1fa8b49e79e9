import { RoundfoldError } from '../core/errors.ts';

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
 * linear in the length of the text: an unbroken run of more than 256 characters of one class (128 beyond ASCII) is
 * counted in parts, where the tokenizer alone may need minutes. Texts without such a run count exactly as with the
 * tokenizer alone.
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
  return (text) => countInParts(text, countPart);
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

/**
 * The tokenizer splits a text into words and then needs time quadratic in the bytes of a word. A run may cost so much:
 * 256 ASCII characters, or 128 others. No text written by people was found to reach it.
 */
const runCostLimit = 768;
/** A longer run is cut into parts that cost so much. Blanks always merge to the few tokens that long runs of them have. */
const partCost = 192;
const spacePartCost = runCostLimit;
const asciiCost = 3;
const wideCost = 6;

/**
 * Classes of characters, as bits: the pattern that splits words repeats over each of them. A character that may
 * continue two kinds of word has both bits.
 */
const letter = 1;
const symbol = 2;
const space = 4;
const lineBreakOrSlash = 8;
const digit = 16;
const anyClass = 31;
const apostrophe = 0x27;

/** Long texts are handed over in parts of about this size, so that the cache below can be kept small. */
const partLimitChars = 32_768;
/**
 * The tokenizer caches 100,000 words of two characters and more. Throwing out old ones makes it up to 30 times slower,
 * so the cache is emptied before it can be full.
 */
const cacheLimitChars = 200_000;

let loadedClasses: Uint8Array | undefined;

function countInParts(text: string, countPart: (part: string) => number): number {
  const cuts = text.length * wideCost <= runCostLimit ? [] : cutsOf(text);
  if (cuts.length === 0) return countPart(text);
  let total = 0;
  let start = 0;
  for (const cut of cuts) {
    total += countPart(text.slice(start, cut));
    start = cut;
  }
  return total + countPart(text.slice(start));
}

/** Where a text has to be cut: inside runs that are too long, and now and then at a place that changes no count. */
function cutsOf(text: string): readonly number[] {
  loadedClasses ??= classifyUnits();
  const cuts: number[] = [];
  let lastCut = 0;
  let previous = 0;
  let shared = 0;
  let runStart = 0;
  let cost = 0;
  let isLong = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const own = loadedClasses[unit] ?? 0;
    const isNewRun = (shared & own) === 0;
    shared = isNewRun ? own : shared & own;
    if (isNewRun) {
      runStart = index;
      cost = 0;
      isLong = false;
      if (index - lastCut >= partLimitChars && isWordEnd(previous, unit)) lastCut = addCut(cuts, index);
    }
    previous = own;
    cost += unitCost(unit);
    if (isLong && cost > (shared === space ? spacePartCost : partCost)) {
      lastCut = addCut(cuts, isLowSurrogate(unit) ? index - 1 : index);
      cost = (index - lastCut + 1) * unitCost(unit);
    } else if (cost > runCostLimit) {
      // Too long: walk this run once more, and cut it on the way.
      isLong = true;
      shared = anyClass;
      cost = 0;
      index = runStart - 1;
    }
  }
  return cuts;
}

function addCut(cuts: number[], index: number): number {
  cuts.push(index);
  return index;
}

/** Words of letters or digits end here in any case; an apostrophe after letters may belong to them. */
function isWordEnd(previousClass: number, unit: number): boolean {
  return (previousClass === letter || previousClass === digit) && unit < 0x80 && unit !== apostrophe;
}

function unitCost(unit: number): number {
  return unit < 0x80 ? asciiCost : wideCost;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function classifyUnits(): Uint8Array {
  return Uint8Array.from({ length: 0x1_0000 }, (_, unit) => classify(String.fromCharCode(unit)));
}

function classify(character: string): number {
  if (/[\r\n]/.test(character)) return space | lineBreakOrSlash;
  if (character === '/') return symbol | lineBreakOrSlash;
  if (/\s/.test(character)) return space;
  if (/\p{N}/u.test(character)) return digit;
  if (/\p{L}/u.test(character)) return letter;
  // Marks go with letters and with symbols. Half of a pair may be half of a letter or of a symbol.
  return /[\p{M}\p{Cs}]/u.test(character) ? letter | symbol : symbol;
}
