/** What one worker does: every row at every budget on every cut of one file. */
import { createTokenEstimator, type TokenEstimator } from '../../src/core/token-estimator.ts';
import { chainsOf, compactInChain } from '../../src/lab/chain.ts';
import type { LabCase } from '../../src/lab/lab-case.ts';
import { type Measurement, measureOutput, measureRow } from '../../src/lab/measure.ts';
import type { Needs } from '../../src/lab/needs.ts';
import type { Row } from '../../src/lab/row.ts';
import { budgetFor, type Cut } from '../../src/lab/trajectory.ts';
import { casesOfFile, type Panel } from './cases.ts';
import type { SessionFile } from './corpus.ts';
import { allRows } from './rows.ts';

/** What to measure. Plain data: it goes to the worker as a message. */
export interface JobOptions {
  readonly panel: Panel;
  readonly rows: readonly string[];
  /** Percent of the prefix's tokens. */
  readonly budgets: readonly number[];
  readonly cuts: number;
  /** Budgets, in percent, at which compactions are also chained. */
  readonly chains: readonly number[];
}

/** Measures a file. */
export async function runJob(
  file: SessionFile,
  options: JobOptions,
  generic: ReadonlySet<string>,
): Promise<readonly Measurement[]> {
  const estimator = createTokenEstimator();
  const needs = new WeakMap<Cut, Needs>();
  const needsOf = (cut: Cut) =>
    needs.get(cut) ?? { entities: [], anchors: [], constraints: [], changedFiles: [] };
  const rows = allRows(estimator, needsOf).filter(({ name }) => options.rows.includes(name));
  const cases = await casesOfFile(file, generic, options.cuts, options.panel);
  for (const { cut, needs: found } of cases) needs.set(cut, found);

  const measured: Measurement[] = [];
  for (const labCase of cases) measured.push(...(await measureCase(labCase, rows, options, estimator)));
  for (const chain of chainsOf(cases))
    measured.push(...(await measureChain(chain, rows, options, estimator)));
  return measured;
}

async function measureCase(
  labCase: LabCase,
  rows: readonly Row[],
  { budgets }: JobOptions,
  estimator: TokenEstimator,
): Promise<readonly Measurement[]> {
  const { cut, recorded } = labCase;
  const now = () => performance.now();
  const measured: Measurement[] = [];
  const level = recorded === undefined ? '' : `size of ${recorded.harness}'s own summary`;
  if (recorded !== undefined) {
    measured.push(
      measureOutput(recorded.recorded, labCase, {
        row: `recorded by ${recorded.harness}`,
        level,
        budgetTokens: recorded.recordedTokens,
        estimator,
        milliseconds: 0,
      }),
    );
  }
  for (const row of rows) {
    const levels =
      recorded === undefined
        ? levelsOf(row, budgets, cut)
        : [{ level, budgetTokens: recorded.recordedTokens }];
    for (const asked of levels) {
      measured.push(await measureRow(row, labCase, { ...asked, estimator, now }));
    }
  }
  return measured;
}

function levelsOf({ name }: Row, budgets: readonly number[], cut: Cut) {
  // Doing nothing is the same at every budget.
  const percents = name === 'none' ? [100] : budgets;
  return percents.map((percent) => ({
    level: levelName(percent),
    budgetTokens: budgetFor(cut, percent / 100),
  }));
}

/** How a budget is called in results. */
export function levelName(percent: number): string {
  return `${percent} %`;
}

/** Rows that know the future, or do nothing, have no use for a chain. */
const UNCHAINED: ReadonlySet<string> = new Set(['none', 'oracle']);

async function measureChain(
  chain: readonly LabCase[],
  rows: readonly Row[],
  { chains }: JobOptions,
  estimator: TokenEstimator,
): Promise<readonly Measurement[]> {
  const measured: Measurement[] = [];
  for (const percent of chains) {
    for (const row of rows) {
      if (UNCHAINED.has(row.name) || chain.length < 2) continue;
      const last = (await compactInChain(row, chain, percent / 100, estimator)).at(-1);
      if (last === undefined) continue;
      const options = {
        row: row.name,
        level: `${percent} %, ${chain.length} compactions in a chain`,
        budgetTokens: budgetFor(last.labCase.cut, percent / 100),
        estimator,
        milliseconds: 0,
      };
      measured.push(measureOutput(last.output, last.labCase, options));
      // The same cut without a chain, to see what the chain cost.
      const single = await row.compact(last.labCase.cut, options.budgetTokens);
      measured.push(measureOutput(single, last.labCase, { ...options, row: `${row.name} (unchained)` }));
    }
  }
  return measured;
}
