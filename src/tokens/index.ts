/**
 * roundfold/models: windows, prices, token profiles, and exact counting where a tokenizer is installed.
 * @module
 */

export { contextWindowForModel, defaultWindowTokens, findModel, type ModelOptions } from './catalog.ts';
export { type Encoding, loadExactCounter } from './exact-counter.ts';
export type { ModelInfo, PriceChange, TokenizerFamily } from './model-info.ts';
export type { CacheTerms, SteppedRates, TokenRates } from './prices.ts';
export { tokenProfileForModel } from './token-profiles.ts';
