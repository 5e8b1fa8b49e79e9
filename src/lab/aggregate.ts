/** Sums measurements up over cuts and sessions: means with 95 % intervals, and paired differences. */

import type { Measurement } from './measure.ts';
import { type FigureName, figureMeasures } from './measures.ts';

/** A mean over sessions with its 95 % interval. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Sessions that had anything to measure. */
  readonly sessions: number;
}

/** One row at one budget, over all sessions. */
export interface RowResult {
  readonly row: string;
  readonly level: string;
  readonly cuts: number;
  readonly figures: Readonly<Record<FigureName, Estimate>>;
  /** Outputs that break a rule of their wire format, and which rules. */
  readonly illegalOutputs: number;
  readonly brokenRules: readonly string[];
  readonly overBudget: number;
}

/** Sums measurements up by row and level: the mean over the cuts of a session, then over sessions. */
export function aggregate(measurements: readonly Measurement[]): readonly RowResult[] {
  const groups = Map.groupBy(measurements, ({ row, level }) => `${level}\0${row}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [summarize(group, first)];
  });
}

function summarize(group: readonly Measurement[], { row, level }: Measurement): RowResult {
  const figures = figureMeasures.map(({ figure }) => [
    figure,
    estimate([...sessionMeans(group, figure).values()], `${row} ${level}`),
  ]);
  return {
    row,
    level,
    cuts: group.length,
    figures: Object.fromEntries(figures) as RowResult['figures'], // one entry for each figure
    illegalOutputs: group.filter(({ brokenRules }) => brokenRules.length > 0).length,
    brokenRules: [...new Set(group.flatMap(({ brokenRules }) => brokenRules))],
    overBudget: group.filter(({ isOverBudget }) => isOverBudget).length,
  };
}

/** How much more one row has of a figure than another at one level: the mean of the differences per session. */
export function pairedDifference(
  measurements: readonly Measurement[],
  rows: readonly [row: string, other: string],
  level: string,
  figure: FigureName,
): Estimate {
  const [left, right] = rows.map((row) =>
    sessionMeans(
      measurements.filter((measurement) => measurement.row === row && measurement.level === level),
      figure,
    ),
  );
  const differences = [...(left ?? [])].flatMap(([session, value]) => {
    const other = right?.get(session);
    return other === undefined ? [] : [value - other];
  });
  return estimate(differences, `${rows.join(' ')} ${level} ${figure}`);
}

/** For each session that has anything to measure the mean over its cuts. */
function sessionMeans(group: readonly Measurement[], figure: FigureName): ReadonlyMap<string, number> {
  const sessions = new Map<string, number[]>();
  for (const { session, figures } of group) {
    const value = figures[figure];
    if (value === undefined) continue;
    const values = sessions.get(session);
    if (values === undefined) sessions.set(session, [value]);
    else values.push(value);
  }
  return new Map([...sessions].map(([session, values]) => [session, meanOf(values)]));
}

const RESAMPLES = 2000;

/** The mean, and the interval that 95 % of resampled means fall into. The same values always give the same interval. */
export function estimate(values: readonly number[], seed: string): Estimate {
  const mean = meanOf(values);
  const random = createRandom(seed);
  const means = Array.from({ length: values.length < 2 ? 0 : RESAMPLES }, () => {
    let sum = 0;
    for (let draw = 0; draw < values.length; draw++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).toSorted((left, right) => left - right);
  const at = (share: number) => means[Math.round(share * (means.length - 1))] ?? mean;
  return { mean, low: at(0.025), high: at(0.975), sessions: values.length };
}

function meanOf(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
export type Random = () => number;

/** A source of such numbers. */
export function createRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (let index = 0; index < seed.length; index++) {
    state = Math.imul(state ^ seed.charCodeAt(index), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
