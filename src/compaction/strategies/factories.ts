import { type OptionSpecs, type OptionValues, readOptions } from '../../conversation/options.ts';
import type { Strategy, StrategyDefinition } from '../plan/strategy.ts';
import { clearToolResults as clearToolResultsDefinition } from './clear-tool-results.ts';
import { collapse as collapseDefinition } from './collapse.ts';
import { collapseReads as collapseReadsDefinition } from './collapse-reads.ts';
import { none as noneDefinition } from './none.ts';
import { ladder as ladderDefinition } from './registry.ts';
import { slidingWindow as slidingWindowDefinition } from './sliding-window.ts';
import { snip as snipDefinition } from './snip.ts';
import { stripMedia as stripMediaDefinition } from './strip-media.ts';
import { summarize as summarizeDefinition } from './summarize.ts';
import { tokenBudget as tokenBudgetDefinition } from './token-budget.ts';

/**
 * Makes a strategy: `slidingWindow({ keepLast: 6 })`. What is left out has its default. `createStrategy` does the same
 * for a name that is only known at run time.
 * @throws RoundfoldError `usage` for an unknown option or a value that does not fit
 */
export type StrategyFactory<Specs extends OptionSpecs> = (
  options?: {
    readonly [Name in keyof Specs]?: OptionValues<Specs>[Name] | undefined;
  },
) => Strategy;

function factoryOf<Specs extends OptionSpecs>(definition: StrategyDefinition<Specs>): StrategyFactory<Specs> {
  return (given = {}) => definition.create(readOptions(definition.options, given, definition.name));
}

/** The default: what is cheap and local first, a summary last, measured again after each step. */
export const ladder = factoryOf(ladderDefinition);

/** Replaces older rounds by a summary. What is pinned and the newest rounds stay as they are. */
export const summarize = factoryOf(summarizeDefinition);

/** Replaces results of files that were read again or changed since by a short note. */
export const collapseReads = factoryOf(collapseReadsDefinition);

/** Clears old results of tools that can be run again, in batches that are worth it. */
export const clearToolResults = factoryOf(clearToolResultsDefinition);

/** Takes out the oldest images and documents beyond limits of their own. */
export const stripMedia = factoryOf(stripMediaDefinition);

/** Drops the oldest rounds until the request fits a budget of tokens or bytes. */
export const tokenBudget = factoryOf(tokenBudgetDefinition);

/** Keeps the newest rounds, and some of the first if asked to. */
export const snip = factoryOf(snipDefinition);

/** Keeps the newest messages and what is pinned. */
export const slidingWindow = factoryOf(slidingWindowDefinition);

/** The emergency: keeps what is pinned, the newest rounds, and a short memory of the rest. Needs no model. */
export const collapse = factoryOf(collapseDefinition);

/** Leaves every conversation as it is: compaction switched off. */
export const none = factoryOf(noneDefinition);
