import { byteClassesBase64, contextsBase64 } from './text-estimator-weights.gen.ts';

/**
 * The estimator is a finite automaton over UTF-8 bytes. A context is the last few byte classes, the current byte
 * included. Its weight is the chance that the current byte starts a token after that context, so the sum of the
 * weights along a text is the number of tokens to expect. Contexts and weights are fitted to exact counts by
 * `bench/estimator/fit.ts`.
 *
 * A step is one number: the row of the table to look in next (upper bits) and the weight of the context that was
 * reached (lower bits). Contexts that lead on in the same way share a row, which keeps the table in the cache.
 */
interface Automaton {
  readonly classOfByte: Uint8Array;
  /** The step that a class leads to, at `row << classBits | class`. */
  readonly steps: Int32Array;
  /** The step that stands for the start of a text; its weight is not counted. */
  readonly start: number;
  /** The longest context: a step depends on no more bytes than this. */
  readonly memoryBytes: number;
}

const classBits = 7;
const weightBits = 13;
const rowShift = classBits + weightBits;
const weightMask = (1 << weightBits) - 1;
/** Weights are whole numbers of 1/4096 token, so sums are exact and do not depend on how a text is cut. */
const weightUnit = 4096;
const startClass = 0;

const scratch = new Uint8Array(32 * 1024);
const scratchWords = new Uint32Array(scratch.buffer);
/** No UTF-16 unit needs more than three bytes. */
const chunkChars = Math.floor(scratch.length / 3);
const lanes = 4;
const bytesPerWord = 4;
const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
const encoder = new TextEncoder();
let loaded: Automaton | undefined;

/**
 * Estimates how many o200k tokens a text has; a real number, never negative, 0 for an empty text.
 * Linear in the length of the text, whatever is in it. The first call unpacks the automaton, about ten milliseconds.
 */
export function estimateTextTokens(text: string): number {
  loaded ??= unpackAutomaton();
  let sum = 0;
  let step = loaded.start;
  for (let start = 0; start < text.length; ) {
    const end = chunkEnd(text, start);
    const chunk = end - start === text.length ? text : text.slice(start, end);
    const { written } = encoder.encodeInto(chunk, scratch);
    sum += weigh(loaded, step, written);
    if (end < text.length) step = stepBefore(loaded, written);
    start = end;
  }
  return sum / weightUnit;
}

function chunkEnd(text: string, start: number): number {
  const end = start + chunkChars;
  if (end >= text.length) return text.length;
  const lastUnit = text.charCodeAt(end - 1);
  // A pair cut in two would be encoded as two replacement characters.
  return lastUnit >= 0xd800 && lastUnit <= 0xdbff ? end - 1 : end;
}

/**
 * The weight of the first `size` bytes of the scratch buffer. A step has to wait for the one before it, so four
 * quarters are walked side by side, a word of four bytes of each at a time: about three times as fast as a single walk.
 */
function weigh(automaton: Automaton, first: number, size: number): number {
  const laneWords = Math.floor(size / (lanes * bytesPerWord));
  const laneBytes = laneWords * bytesPerWord;
  if (laneBytes < 2 * automaton.memoryBytes || !isLittleEndian) return weighRange(automaton, first, 0, size);
  let a = first;
  let b = stepBefore(automaton, laneBytes);
  let c = stepBefore(automaton, 2 * laneBytes);
  let d = stepBefore(automaton, 3 * laneBytes);
  let sum = 0;
  for (let index = 0; index < laneWords; index++) {
    const wordA = wordAt(index);
    const wordB = wordAt(index + laneWords);
    const wordC = wordAt(index + 2 * laneWords);
    const wordD = wordAt(index + 3 * laneWords);
    a = follow(automaton, a, wordA & 0xff);
    b = follow(automaton, b, wordB & 0xff);
    c = follow(automaton, c, wordC & 0xff);
    d = follow(automaton, d, wordD & 0xff);
    // `| 0` keeps the sum a 32-bit integer; 32 kB of the heaviest weight stay far below its limit.
    sum = (sum + (a & weightMask) + (b & weightMask) + (c & weightMask) + (d & weightMask)) | 0;
    a = follow(automaton, a, (wordA >>> 8) & 0xff);
    b = follow(automaton, b, (wordB >>> 8) & 0xff);
    c = follow(automaton, c, (wordC >>> 8) & 0xff);
    d = follow(automaton, d, (wordD >>> 8) & 0xff);
    sum = (sum + (a & weightMask) + (b & weightMask) + (c & weightMask) + (d & weightMask)) | 0;
    a = follow(automaton, a, (wordA >>> 16) & 0xff);
    b = follow(automaton, b, (wordB >>> 16) & 0xff);
    c = follow(automaton, c, (wordC >>> 16) & 0xff);
    d = follow(automaton, d, (wordD >>> 16) & 0xff);
    sum = (sum + (a & weightMask) + (b & weightMask) + (c & weightMask) + (d & weightMask)) | 0;
    a = follow(automaton, a, wordA >>> 24);
    b = follow(automaton, b, wordB >>> 24);
    c = follow(automaton, c, wordC >>> 24);
    d = follow(automaton, d, wordD >>> 24);
    sum = (sum + (a & weightMask) + (b & weightMask) + (c & weightMask) + (d & weightMask)) | 0;
  }
  return sum + weighRange(automaton, d, lanes * laneBytes, size);
}

function weighRange(automaton: Automaton, first: number, start: number, end: number): number {
  let step = first;
  let sum = 0;
  for (let index = start; index < end; index++) {
    step = follow(automaton, step, scratch[index] ?? 0);
    sum += step & weightMask;
  }
  return sum;
}

/** The step that the first `end` bytes of the scratch buffer lead to, found from the last of them alone. */
function stepBefore(automaton: Automaton, end: number): number {
  let step = 0;
  for (let index = end - automaton.memoryBytes; index < end; index++) {
    step = follow(automaton, step, scratch[index] ?? 0);
  }
  return step;
}

function follow({ steps, classOfByte }: Automaton, step: number, byte: number): number {
  return steps[(step >>> weightBits) + (classOfByte[byte] ?? 0)] ?? 0;
}

function wordAt(index: number): number {
  return scratchWords[index] ?? 0;
}

/** Contexts as packed: a tree in preorder, where a child puts one older class in front of its parent's context. */
interface Contexts {
  readonly parent: Uint16Array;
  /** The class that a context has in front of its parent's. */
  readonly oldestClass: Uint8Array;
  readonly newestClass: Uint8Array;
  readonly weight: Uint16Array;
  readonly childOf: ReadonlyMap<number, number>;
  readonly memoryBytes: number;
}

/** For each context, as a list that 0 ends, the contexts that are this one and one newer class. */
interface LongerContexts {
  readonly first: Uint16Array;
  readonly next: Uint16Array;
}

function unpackAutomaton(): Automaton {
  const contexts = unpackContexts(unpackBytes(contextsBase64));
  const longer = linkLonger(contexts);
  const rowOf = shareRows(contexts, longer);
  return {
    classOfByte: unpackBytes(byteClassesBase64),
    steps: fillRows(contexts, longer, rowOf),
    start: (rowOf[contexts.childOf.get(startClass) ?? 0] ?? 0) << rowShift,
    memoryBytes: contexts.memoryBytes,
  };
}

/** Three bytes a context: class (7 bits), depth (4 bits), weight (13 bits), from the highest bit on. */
function unpackContexts(packed: Uint8Array): Contexts {
  const size = packed.length / 3;
  const parent = new Uint16Array(size);
  const oldestClass = new Uint8Array(size);
  const newestClass = new Uint8Array(size);
  const weight = new Uint16Array(size);
  const childOf = new Map<number, number>();
  const path = [0];
  let memoryBytes = 0;
  for (let context = 0; context < size; context++) {
    const place = context * 3;
    const bits = ((packed[place] ?? 0) << 16) | ((packed[place + 1] ?? 0) << 8) | (packed[place + 2] ?? 0);
    const depth = (bits >>> weightBits) & 0xf;
    weight[context] = bits & weightMask;
    path[depth] = context;
    if (depth === 0) continue;
    const shorter = path[depth - 1] ?? 0;
    const oldest = bits >>> 17;
    parent[context] = shorter;
    oldestClass[context] = oldest;
    newestClass[context] = depth === 1 ? oldest : (newestClass[shorter] ?? 0);
    childOf.set((shorter << classBits) | oldest, context);
    memoryBytes = Math.max(memoryBytes, depth);
  }
  return { parent, oldestClass, newestClass, weight, childOf, memoryBytes };
}

function linkLonger({ parent, oldestClass, childOf }: Contexts): LongerContexts {
  const prefix = new Uint16Array(parent.length);
  const first = new Uint16Array(parent.length);
  const next = new Uint16Array(parent.length);
  for (let context = 1; context < parent.length; context++) {
    const shorter = parent[context] ?? 0;
    const child = ((prefix[shorter] ?? 0) << classBits) | (oldestClass[context] ?? 0);
    // The packed set is closed: a context without its newest class is a context, too.
    const before = shorter === 0 ? 0 : (childOf.get(child) ?? 0);
    prefix[context] = before;
    next[context] = first[before] ?? 0;
    first[before] = context;
  }
  return { first, next };
}

/** Only a context that others continue needs a row; the rest go where the next shorter context goes. */
function shareRows({ parent }: Contexts, { first }: LongerContexts): Uint16Array {
  const rowOf = new Uint16Array(parent.length);
  let rows = 1;
  for (let context = 1; context < parent.length; context++) {
    rowOf[context] = first[context] === 0 ? (rowOf[parent[context] ?? 0] ?? 0) : rows++;
  }
  return rowOf;
}

function fillRows(
  { parent, newestClass, weight }: Contexts,
  longer: LongerContexts,
  rowOf: Uint16Array,
): Int32Array {
  const rows = rowOf.reduce((most, row) => Math.max(most, row), 0) + 1;
  const steps = new Int32Array(rows << classBits);
  for (let context = 0; context < parent.length; context++) {
    if (longer.first[context] === 0) continue;
    const row = (rowOf[context] ?? 0) << classBits;
    const shorterRow = (rowOf[parent[context] ?? 0] ?? 0) << classBits;
    steps.copyWithin(row, shorterRow, shorterRow + (1 << classBits));
    for (let other = longer.first[context] ?? 0; other > 0; other = longer.next[other] ?? 0) {
      steps[row | (newestClass[other] ?? 0)] = ((rowOf[other] ?? 0) << rowShift) | (weight[other] ?? 0);
    }
  }
  return steps;
}

function unpackBytes(base64: string): Uint8Array {
  const packed = atob(base64);
  const bytes = new Uint8Array(packed.length);
  for (let index = 0; index < packed.length; index++) bytes[index] = packed.charCodeAt(index);
  return bytes;
}
