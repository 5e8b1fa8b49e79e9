/**
 * roundfold/tokens: how large a conversation is and when that is too much. Estimates, exact counts where a tokenizer is installed,
 * thresholds, and the windows and prices of models.
 * @module
 */
export { contextWindowForModel, defaultWindowTokens, findModel, type ModelOptions } from './catalog.ts';
export { type Encoding, loadExactCounter } from './exact-counter.ts';
export type { ModelInfo, PriceChange, TokenizerFamily } from './model-info.ts';
export type { CacheTerms, SteppedRates, TokenRates } from './prices.ts';
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
export { type TokenClass, tokenClasses, tokensByClass } from './token-classes.ts';
export { createTokenEstimator, type TokenEstimator, type TokenEstimatorOptions } from './token-estimator.ts';
export { o200kProfile, type TokenProfile } from './token-profile.ts';
export { tokenProfileForModel } from './token-profiles.ts';
export { type LearnedRatio, learnRatio, measureContext, type TokenMeasure } from './tokens.ts';
