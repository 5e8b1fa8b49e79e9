import { RoundfoldError } from '../../conversation/errors.ts';
import type { OptionSpecs, OptionValues } from '../../conversation/options.ts';
import type { Strategy, StrategyDefinition } from '../plan/strategy.ts';
import { clearToolResults } from './clear-tool-results.ts';
import { collapse } from './collapse.ts';
import { collapseReads } from './collapse-reads.ts';
import { ladder } from './ladder.ts';
import { none } from './none.ts';
import { slidingWindow } from './sliding-window.ts';
import { snip } from './snip.ts';
import { stripMedia } from './strip-media.ts';
import { summarize } from './summarize.ts';
import { tokenBudget } from './token-budget.ts';

/** Every strategy. Help, configuration and the contract suite read this list. */
export const strategies = [
  ladder,
  summarize,
  collapseReads,
  clearToolResults,
  stripMedia,
  tokenBudget,
  snip,
  slidingWindow,
  collapse,
  none,
] satisfies readonly StrategyDefinition[];

/**
 * The strategy of that name with these options.
 * @throws RoundfoldError `usage` for an unknown name, an unknown option or a value that does not fit
 */
export function createStrategy(name: string, options: Readonly<Record<string, unknown>> = {}): Strategy {
  const definition: StrategyDefinition | undefined = strategies.find((strategy) => strategy.name === name);
  if (definition === undefined) {
    const known = strategies.map((strategy) => strategy.name).join(', ');
    throw new RoundfoldError('usage', `unknown strategy ${JSON.stringify(name)}`, {
      remedy: `Known: ${known}.`,
    });
  }
  return definition(options as OptionValues<OptionSpecs>); // checked by the definition itself
}
