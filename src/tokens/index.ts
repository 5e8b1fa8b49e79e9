/**
 * roundfold/tokens: how large a conversation is and when that is too much. Estimates, exact counts where a tokenizer is installed,
 * thresholds, and the windows and prices of models.
 * @module
 */
export { contextWindowForModel, defaultWindowTokens, findModel, type ModelOptions } from './catalog.ts';
export { createTokenEstimator, type TokenEstimator, type TokenEstimatorOptions } from './estimator.ts';
export { type Encoding, loadExactCounter } from './exact-counter.ts';
export {
  type LearnedRatio,
  learnRatio,
  measureContext,
  type TokenClass,
  type TokenMeasure,
  tokenClasses,
  tokensByClass,
} from './measure.ts';
export type {
  CacheTerms,
  ModelInfo,
  PriceChange,
  SteppedRates,
  TokenizerFamily,
  TokenRates,
} from './model-info.ts';
export { o200kProfile, type TokenProfile, tokenProfileForModel } from './profiles.ts';
export { estimateTextTokens } from './text-estimator.ts';
export {
  AUTOCOMPACT_TRIGGER_FRACTION,
  COLLAPSE_FRACTION,
  CRITICAL_FRACTION,
  RESERVE_TOKENS,
  shouldCompact,
  shouldContextCollapse,
  type ThresholdOptions,
  type Thresholds,
  type TokenWarningState,
  TRIGGER_MARGIN_TOKENS,
  thresholdsFor,
  tokenWarningState,
  WARNING_FRACTION,
} from './thresholds.ts';
