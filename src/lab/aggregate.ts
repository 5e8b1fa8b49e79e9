import type { EntityKind } from '../core/entities.ts';
import type { Measurement } from './measure.ts';
import type { TextSource } from './message-texts.ts';
import type { Share } from './panel.ts';
import { createRandom } from './seeded.ts';

/** A mean over sessions with its 95 % interval. */
export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** Sessions that had anything to measure. */
  readonly sessions: number;
}

/** The figures of the panel that are shares of something. */
export const panelFigures = [
  'futureReference',
  'bound',
  'editAnchors',
  'constraints',
  'changedFiles',
  'rareReference',
  'retrievableReference',
  'retrievableAnchors',
] as const;

export type PanelFigure = (typeof panelFigures)[number];

/** One row at one budget, over all sessions. */
export interface RowResult {
  readonly row: string;
  readonly level: string;
  readonly cuts: number;
  readonly figures: Readonly<Record<PanelFigure | 'tokensKept' | 'stableShare', Estimate>>;
  readonly rereadTokens: number;
  /** Outputs that break a rule of their wire format, and which rules. */
  readonly illegal: number;
  readonly brokenRules: readonly string[];
  readonly overBudget: number;
  readonly medianMilliseconds: number;
  /** Needs by what the name looks like and by where the prefix showed it last, over all cuts. */
  readonly byKind: Readonly<Partial<Record<EntityKind, Share>>>;
  readonly bySource: Readonly<Partial<Record<TextSource, Share>>>;
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
  const estimateOf = (figureOf: (measurement: Measurement) => number | undefined) =>
    estimate(sessionMeans(group, figureOf), `${row} ${level}`);
  const figure = (name: PanelFigure) => estimateOf(({ score }) => ratioOf(score[name]));
  return {
    row,
    level,
    cuts: group.length,
    figures: {
      futureReference: figure('futureReference'),
      bound: figure('bound'),
      editAnchors: figure('editAnchors'),
      constraints: figure('constraints'),
      changedFiles: figure('changedFiles'),
      rareReference: figure('rareReference'),
      retrievableReference: figure('retrievableReference'),
      retrievableAnchors: figure('retrievableAnchors'),
      tokensKept: estimateOf(({ tokensKept }) => tokensKept),
      stableShare: estimateOf(({ stableShare }) => stableShare),
    },
    rereadTokens: Math.round(meanOf(sessionMeans(group, ({ score }) => score.rereadTokens))),
    illegal: group.filter(({ brokenRules }) => brokenRules.length > 0).length,
    brokenRules: [...new Set(group.flatMap(({ brokenRules }) => brokenRules))],
    overBudget: group.filter(({ isOverBudget }) => isOverBudget).length,
    medianMilliseconds: medianOf(group.map(({ milliseconds }) => milliseconds)),
    byKind: sumShares(group.map(({ score }) => score.byKind)),
    bySource: sumShares(group.map(({ score }) => score.bySource)),
  };
}

/** A difference of two rows on the same sessions. */
export interface PairedDifference extends Estimate {
  readonly figure: PanelFigure;
}

/** How much better one row is than another at one level: the mean of the differences per session, with its interval. */
export function pairedDifference(
  measurements: readonly Measurement[],
  rows: readonly [better: string, worse: string],
  level: string,
  figure: PanelFigure,
): PairedDifference {
  const [left, right] = rows.map((row) =>
    sessionValues(
      measurements.filter((measurement) => measurement.row === row && measurement.level === level),
      ({ score }) => ratioOf(score[figure]),
    ),
  );
  const differences = [...(left ?? [])].flatMap(([session, value]) => {
    const other = right?.get(session);
    return other === undefined ? [] : [value - other];
  });
  return { figure, ...estimate(differences, `${rows.join(' ')} ${level} ${figure}`) };
}

/** Undefined where there was nothing to keep. */
function ratioOf({ kept, of }: Share): number | undefined {
  return of === 0 ? undefined : kept / of;
}

function sessionMeans(
  group: readonly Measurement[],
  figureOf: (measurement: Measurement) => number | undefined,
): readonly number[] {
  return [...sessionValues(group, figureOf).values()];
}

function sessionValues(
  group: readonly Measurement[],
  figureOf: (measurement: Measurement) => number | undefined,
): ReadonlyMap<string, number> {
  const sessions = new Map<string, number[]>();
  for (const measurement of group) {
    const value = figureOf(measurement);
    if (value === undefined) continue;
    const values = sessions.get(measurement.session);
    if (values === undefined) sessions.set(measurement.session, [value]);
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

function medianOf(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function sumShares<Key extends string>(
  groups: readonly Readonly<Partial<Record<Key, Share>>>[],
): Readonly<Partial<Record<Key, Share>>> {
  const sums = new Map<string, { kept: number; of: number }>();
  for (const group of groups) {
    for (const [key, share] of Object.entries<Share | undefined>(group)) {
      const sum = sums.get(key) ?? { kept: 0, of: 0 };
      sums.set(key, { kept: sum.kept + (share?.kept ?? 0), of: sum.of + (share?.of ?? 0) });
    }
  }
  return Object.fromEntries(sums) as Partial<Record<Key, Share>>; // its keys are those of the groups
}
