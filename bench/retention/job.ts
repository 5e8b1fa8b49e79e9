/** What one worker does: every row at every budget on every cut of one file. */
import { createTokenEstimator } from '../../src/core/token-estimator.ts';
import { chainsOf } from '../../src/lab/chain.ts';
import type { LabCase } from '../../src/lab/lab-case.ts';
import type { Measurement } from '../../src/lab/measure.ts';
import { type CaseOptions, measureCase, measureChain } from '../../src/lab/measure-case.ts';
import type { Row } from '../../src/lab/row.ts';
import { casesOfFile, type Panel } from './cases.ts';
import type { SessionFile } from './corpus.ts';
import { measureMatched } from './matched.ts';
import { chatCase, peerRows } from './peers.ts';
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
  { panel, rows: wanted, budgets, cuts, chains }: JobOptions,
  generic: ReadonlySet<string>,
): Promise<readonly Measurement[]> {
  const estimator = createTokenEstimator();
  const now = () => performance.now();
  const cases = await casesOfFile(file, generic, cuts, panel);
  const rows = allRows(estimator, cases).filter(({ name }) => wanted.includes(name));
  const peers = await peerRows(wanted, estimator);
  const first = rows.find(({ name }) => name === wanted[0]);

  const measured: Measurement[] = [];
  for (const labCase of cases) {
    const found = await measureCase(labCase, rows, { budgets, estimator, now });
    measured.push(...found.map(({ measurement }) => measurement));
    const others = await measurePeers(labCase, peers, { budgets, estimator, now });
    measured.push(...others);
    if (first !== undefined && labCase.recorded === undefined)
      measured.push(...(await measureMatched(labCase, first, others, { estimator, now })));
  }
  for (const chain of chainsOf(cases)) {
    const found = await measureChain(chain, rows, { budgets: chains, estimator, now });
    measured.push(...found.map(({ measurement }) => measurement));
  }
  return measured;
}

async function measurePeers(
  labCase: LabCase,
  rows: readonly Row[],
  options: CaseOptions,
): Promise<readonly Measurement[]> {
  if (rows.length === 0) return [];
  const found = await measureCase(chatCase(labCase, options.estimator), rows, options);
  const names = new Set(rows.map(({ name }) => name));
  // The harness's own summary was measured with the other rows.
  return found.map(({ measurement }) => measurement).filter(({ row }) => names.has(row));
}
