/** Every row that can be measured, by name. */
import type { TokenEstimator } from '../../src/core/token-estimator.ts';
import { controlRows } from '../../src/lab/controls.ts';
import type { Needs } from '../../src/lab/needs.ts';
import { oracleRow } from '../../src/lab/oracle.ts';
import type { Row } from '../../src/lab/row.ts';
import { strategyRow } from '../../src/lab/strategy-row.ts';
import type { Cut } from '../../src/lab/trajectory.ts';
import { createStrategy, strategies } from '../../src/strategies/registry.ts';
import { outline } from '../../src/summarizers/outline.ts';

/** The rows that run when none are named. */
export const defaultRows: readonly string[] = [
  'ladder',
  'recency only',
  'random rounds',
  'vocabulary dump',
  'identifier dump',
  'oracle',
  'none',
];

/** All rows: the strategies of the registry, the controls and the oracle. */
export function allRows(estimator: TokenEstimator, needsOf: (cut: Cut) => Needs): readonly Row[] {
  const engine = strategies
    .filter(({ name }) => name !== 'none')
    .map(({ name }) => strategyRow(createStrategy(name), { summarizer: outline, estimator }));
  return [...engine, ...controlRows(estimator), oracleRow(needsOf, estimator)];
}
