import { createHash } from 'node:crypto';

/** Hands out ids that look random and are the same for the same seed: `msg_` and 24 letters and digits. */
export type IdSource = (prefix: string, length?: number) => string;

/** Ids of one simulator, in the order in which they are asked for. */
export function createIds(seed: number): IdSource {
  let count = 0;
  return (prefix, length = 24) => {
    const digest = createHash('sha256').update(`${seed}:${count++}`).digest('hex');
    return `${prefix}${digest.slice(0, length)}`;
  };
}

/** Whole numbers from 0 up to and without `limit`, the same ones for the same seed. */
export type NumberSource = (limit: number) => number;

/** A small generator (mulberry32): good enough to cut streams at odd places, and repeatable. */
export function createNumbers(seed: number): NumberSource {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}
