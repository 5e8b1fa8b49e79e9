/** The rows of a comparison: strategies, controls and the oracle. */

import { defaultSummarizer } from '../compaction/options.ts';
import { createStrategy, strategies } from '../compaction/strategies/registry.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { controlRows } from './controls.ts';
import { type LabCase, NONE } from './measure.ts';
import { oracleRow } from './oracle.ts';
import { type Row, type StrategyRowOptions, strategyRow } from './row.ts';

/** Every strategy that makes something smaller, by name. */
export const labStrategies: readonly string[] = strategies
  .map(({ name }) => name)
  .filter((name) => name !== NONE);

/**
 * The strategies of these names with a summarizer (the one that is the default everywhere, if none is given), the controls, and the oracle, which
 * knows the needs of these cases.
 */
export function labRows(
  names: readonly string[],
  cases: readonly LabCase[],
  estimator: TokenEstimator,
  summarizer: StrategyRowOptions['summarizer'] = defaultSummarizer,
): readonly Row[] {
  const needs = new Map(cases.map((labCase) => [labCase.cut, labCase.needs]));
  return [
    ...names.map((name) => strategyRow(createStrategy(name), { summarizer, estimator })),
    ...controlRows(estimator),
    oracleRow((cut) => needs.get(cut), estimator),
  ];
}
