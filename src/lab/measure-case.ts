import type { TokenEstimator } from '../core/token-estimator.ts';
import { compactInChain } from './chain.ts';
import type { LabCase } from './lab-case.ts';
import { type Measured, measureOutput, measureRow } from './measure.ts';
import type { Row } from './row.ts';
import { budgetFor, type Cut } from './trajectory.ts';

export interface CaseOptions {
  /** Percent of the prefix's tokens. */
  readonly budgets: readonly number[];
  readonly estimator: TokenEstimator;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** How a budget is called in results. */
export function levelName(percent: number): string {
  return `${percent} %`;
}

const RECORDED_LEVEL = 'size of ';
const RECORDED_ROW = 'recorded by ';

/** How the budget is called that a harness's own summary had. */
function recordedLevelName(harness: string): string {
  return `${RECORDED_LEVEL}${harness}'s own summary`;
}

/** Whether a level is called so. */
export function isRecordedLevel(level: string): boolean {
  return level.startsWith(RECORDED_LEVEL);
}

/** How the row of a harness's own summaries is called. */
function recordedRowName(harness: string): string {
  return `${RECORDED_ROW}${harness}`;
}

/** The harness whose summaries such a row is about; undefined for all other rows. */
export function harnessOfRow(row: string): string | undefined {
  return row.startsWith(RECORDED_ROW) ? row.slice(RECORDED_ROW.length) : undefined;
}

/** The row that does nothing. It is the same at every budget. */
export const NONE = 'none';

/**
 * Every row at every budget on one case. Where the harness itself compacted, its summary is a row more, and the budget of
 * all is the size of that.
 */
export async function measureCase(
  labCase: LabCase,
  rows: readonly Row[],
  options: CaseOptions,
): Promise<readonly Measured[]> {
  const { estimator, now } = options;
  const measured: Measured[] = measureRecorded(labCase, estimator);
  for (const row of rows) {
    for (const asked of levelsOf(row, labCase, options.budgets))
      measured.push(await measureRow(row, labCase, { ...asked, estimator, now }));
  }
  return measured;
}

function measureRecorded(labCase: LabCase, estimator: TokenEstimator): Measured[] {
  const { recorded } = labCase;
  if (recorded === undefined) return [];
  const options = {
    row: recordedRowName(recorded.harness),
    level: recordedLevelName(recorded.harness),
    budgetTokens: recorded.recordedTokens,
    estimator,
    milliseconds: 0,
  };
  return [measureOutput({ messages: recorded.recorded }, labCase, options)];
}

interface AskedLevel {
  readonly level: string;
  readonly budgetTokens: number;
}

function levelsOf(
  { name }: Row,
  { cut, recorded }: LabCase,
  budgets: readonly number[],
): readonly AskedLevel[] {
  if (recorded !== undefined)
    return [{ level: recordedLevelName(recorded.harness), budgetTokens: recorded.recordedTokens }];
  return (name === NONE ? [100] : budgets).map((percent) => askedLevel(cut, percent));
}

function askedLevel(cut: Cut, percent: number): AskedLevel {
  return { level: levelName(percent), budgetTokens: budgetFor(cut, percent / 100) };
}

/** Rows that know the future, or do nothing, have no use for a chain. */
const UNCHAINED: ReadonlySet<string> = new Set([NONE, 'oracle']);

/** Every row on a chain of cases: what is left at its last cut, and the same cut without a chain beside it. */
export async function measureChain(
  chain: readonly LabCase[],
  rows: readonly Row[],
  { budgets, estimator }: CaseOptions,
): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  if (chain.length < 2) return measured;
  for (const percent of budgets) {
    for (const row of rows) {
      if (UNCHAINED.has(row.name)) continue;
      const last = (await compactInChain(row, chain, percent / 100, estimator)).at(-1);
      if (last === undefined) continue;
      const { labCase, output } = last;
      const options = {
        row: row.name,
        level: `${levelName(percent)}, ${chain.length} compactions in a chain`,
        budgetTokens: budgetFor(labCase.cut, percent / 100),
        estimator,
        milliseconds: 0,
      };
      const single = await row.compact(labCase.cut, options.budgetTokens);
      measured.push(
        measureOutput({ messages: output }, labCase, options),
        measureOutput({ messages: single }, labCase, { ...options, row: `${row.name} (unchained)` }),
      );
    }
  }
  return measured;
}
