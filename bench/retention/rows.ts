/** Every row that can be measured, by name. */
import type { TokenEstimator } from '../../src/core/token-estimator.ts';
import type { LabCase } from '../../src/lab/lab-case.ts';
import { labRows, labStrategies } from '../../src/lab/lab-rows.ts';
import type { Row } from '../../src/lab/row.ts';
import { heldOutDigest } from '../digest/held-out.ts';

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
export function allRows(estimator: TokenEstimator, cases: readonly LabCase[]): readonly Row[] {
  return labRows(labStrategies, cases, estimator, (cut) => heldOutDigest(cut.session));
}
