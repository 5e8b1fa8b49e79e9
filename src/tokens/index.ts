/**
 * roundfold/models: windows, prices, token profiles, and exact counting where a tokenizer is installed.
 * @module
 */

export { contextWindowForModel, defaultWindowTokens, findModel, type ModelOptions } from './catalog.ts';
export { type Encoding, loadExactCounter } from './exact-counter.ts';
export type {
  CacheTerms,
  ModelInfo,
  PriceChange,
  SteppedRates,
  TokenizerFamily,
  TokenRates,
} from './model-info.ts';
export { tokenProfileForModel } from './profiles.ts';
