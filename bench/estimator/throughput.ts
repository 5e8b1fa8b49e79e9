import type { Counter } from './accuracy.ts';
import { median } from './clock.ts';
import type { Piece } from './corpus.ts';

/** How fast each contender was. */
export interface Throughput {
  readonly sizeBytes: number;
  readonly rows: readonly ThroughputRow[];
}

/** One contender. */
export interface ThroughputRow {
  readonly name: string;
  readonly megabytesPerSecond: number;
}

const rounds = 21;
const warmUpRounds = 3;
const blockBytes = 200_000;

/** The same number of bytes of each kind, so many in all, as strings of their own. */
export function mixPieces(pieces: readonly Piece[], sizeBytes: number): readonly string[] {
  const byKind = Map.groupBy(pieces, (piece) => piece.kind);
  const texts: string[] = [];
  for (const ofKind of byKind.values()) {
    let left = sizeBytes / byKind.size;
    for (const { text } of ofKind) {
      if (left <= 0) break;
      texts.push(text);
      left -= Buffer.byteLength(text);
    }
  }
  return texts;
}

/**
 * Runs the contenders in turns on blocks of a few milliseconds, so that a slow moment of the machine hits all of them.
 * A contender's time is the sum over the blocks of its median time for the block: rounds that other work interrupted
 * fall out.
 */
export function measureThroughput(
  texts: readonly string[],
  contenders: Readonly<Record<string, Counter>>,
): Throughput {
  const blocks = blocksOf(texts);
  const sizeBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const spentMs = new Map<string, number>();
  for (const block of blocks) {
    for (const [name, times] of timeBlock(block, contenders)) {
      spentMs.set(name, (spentMs.get(name) ?? 0) + median(times));
    }
  }
  const rows = [...spentMs].map(([name, spent]) => ({ name, megabytesPerSecond: sizeBytes / 1000 / spent }));
  return { sizeBytes, rows };
}

function blocksOf(texts: readonly string[]): readonly (readonly string[])[] {
  const blocks: string[][] = [[]];
  let sizeBytes = 0;
  for (const text of texts) {
    blocks.at(-1)?.push(text);
    sizeBytes += Buffer.byteLength(text);
    if (sizeBytes < blockBytes) continue;
    blocks.push([]);
    sizeBytes = 0;
  }
  return blocks;
}

let kept = 0;

function timeBlock(
  block: readonly string[],
  contenders: Readonly<Record<string, Counter>>,
): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds + warmUpRounds; round++) {
    for (const [name, counter] of Object.entries(contenders)) {
      const start = performance.now();
      // The sum is kept so that no run can be optimised away.
      for (const text of block) kept += counter(text);
      if (round >= warmUpRounds) times.get(name)?.push(performance.now() - start);
    }
  }
  if (Number.isNaN(kept)) throw new Error('a contender answered with no number');
  return times;
}
