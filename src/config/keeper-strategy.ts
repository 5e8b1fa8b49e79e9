import { readOptions } from '../core/options.ts';
import type { Strategy } from '../core/strategy.ts';
import { defineLadder } from '../strategies/ladder.ts';
import { createStrategy } from '../strategies/registry.ts';
import type { CompactorOptions } from './compactor.ts';

/**
 * The default without its emergency: a list of what was done is good enough for a request that would not fit otherwise,
 * and no record of what was said.
 */
const ladder = defineLadder(({ keepRecent }) => [
  [createStrategy('strip-media'), createStrategy('collapse-reads'), createStrategy('clear-tool-results')],
  [createStrategy('strip-media'), createStrategy('summarize', { keepRecent })],
]);

/** The strategy whose outcomes are stored. */
export function keeperStrategy({ strategy = 'ladder', options = {} }: CompactorOptions): Strategy {
  if (typeof strategy !== 'string') return strategy;
  return strategy === 'ladder'
    ? ladder.create(readOptions(ladder.options, options, 'ladder'))
    : createStrategy(strategy, options);
}
