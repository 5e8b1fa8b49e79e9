import type { CacheTerms, SteppedRates } from './prices.ts';

/**
 * Which tokenizer a model's counts come from, as far as an estimate can tell them apart. `claude-4.7` yields about 30 %
 * more tokens than `claude` for the same text.
 */
export type TokenizerFamily = 'claude' | 'claude-4.7' | 'o200k' | 'cl100k' | 'gemini' | 'other';

/** Prices that apply from a day on. */
export interface PriceChange {
  /** First day of the new prices, `2026-12-01`. */
  readonly from: string;
  readonly prices: SteppedRates;
}

/** What is known about a model, as of a date. */
export interface ModelInfo {
  readonly id: string;
  /** Other spellings of the id. */
  readonly aliases?: readonly string[] | undefined;
  readonly provider: string;
  readonly family: TokenizerFamily;
  /** Prompt and output together. */
  readonly windowTokens: number;
  readonly maxOutputTokens?: number | undefined;
  /** The most a prompt may have, where that is less than the window. */
  readonly maxInputTokens?: number | undefined;
  readonly prices?: SteppedRates | undefined;
  /** Announced prices, oldest first. `findModel` applies them when it is told a date. */
  readonly priceChanges?: readonly PriceChange[] | undefined;
  readonly cache?: CacheTerms | undefined;
  /** Whether the model refuses its own reasoning behind a prefix that has changed. */
  readonly bindsReasoning?: boolean | undefined;
  /** Month of the figures, `2026-11`. */
  readonly asOf: string;
}
