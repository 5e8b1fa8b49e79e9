import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void; // there since the flag was set

/** Frees what earlier rounds have left behind, so that it is not charged to the next one. */
export function collectGarbage(): void {
  gc();
}

/** Median of the times of `run` in milliseconds, after one warm-up. */
export function medianMs(rounds: number, run: () => void): number {
  run();
  return median(Array.from({ length: rounds }, () => timeMs(run)));
}

/** How long one run takes, in milliseconds. */
export function timeMs(run: () => void): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** One goal of a bench: what was measured, and the bar it must not pass. */
export interface Goal {
  readonly name: string;
  readonly measured: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** Prints every goal with its verdict. Returns whether all hold. */
export function printGoals(goals: readonly Goal[]): boolean {
  let allHold = true;
  for (const { name, measured, atMost, atLeast } of goals) {
    const holds =
      measured <= (atMost ?? Number.POSITIVE_INFINITY) && measured >= (atLeast ?? Number.NEGATIVE_INFINITY);
    const bar = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
    console.log(`${holds ? 'PASS' : 'FAIL'}  ${name}: ${measured.toFixed(3)} (${bar})`);
    allHold &&= holds;
  }
  return allHold;
}
