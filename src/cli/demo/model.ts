import { type PriceSet, priceSetOf } from '../../compaction/economics/costs.ts';
import { findModel } from '../../tokens/catalog.ts';

/** The model that the demo is played with; the provider is on this machine and only its name is. */
export const DEMO_MODEL = 'claude-sonnet-5';

/** Its list prices. */
export const listPrices: PriceSet = priceSetOf(findModel(DEMO_MODEL) ?? {}) ?? {
  prices: { input: 0, output: 0 },
};
