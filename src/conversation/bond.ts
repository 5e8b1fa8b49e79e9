/** A stretch of messages that stay together: no cut falls between `start` and `end` (exclusive on both sides). */
export interface Bond {
  readonly start: number;
  readonly end: number;
}

/** How many bonds lie over each index, as differences: +1 behind a bond's first message, -1 at its end. */
export interface BondDepths {
  [index: number]: number;
}

/** Lays one more bond over its messages. */
export function addBond(depths: BondDepths, { start, end }: Bond): void {
  if (end - start < 2) return;
  depths[start + 1] = (depths[start + 1] ?? 0) + 1;
  depths[end] = (depths[end] ?? 0) - 1;
}

/** The indexes over which no bond lies, ascending, from 0 to the length of the list. */
export function cutsBetween(depths: Readonly<BondDepths>, length: number): readonly number[] {
  const cuts: number[] = [];
  let depth = 0;
  for (let index = 0; index <= length; index++) {
    depth += depths[index] ?? 0;
    if (depth === 0) cuts.push(index);
  }
  return cuts;
}
