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

/** List prices in USD per million tokens. What is undefined is not charged apart: it costs what input costs. */
export interface TokenRates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  /** For the shortest lifetime of a cache entry. */
  readonly cacheWrite?: number | undefined;
  /** For the longest lifetime of a cache entry. */
  readonly cacheWriteLong?: number | undefined;
}

/** Prices with their step for long prompts, if there is one. */
export interface SteppedRates extends TokenRates {
  /** Prices of the whole request once its prompt exceeds so many tokens. */
  readonly longContext?: (TokenRates & { readonly abovePromptTokens: number }) | undefined;
}

/** When a prompt cache works, and for how long. */
export interface CacheTerms {
  /** `at-breakpoints`: what the request marks is written. `automatic`: the provider writes by itself. */
  readonly writes: 'at-breakpoints' | 'automatic';
  /** Shorter prefixes are not cached. Default 0. */
  readonly minimumPrefixTokens?: number | undefined;
  /** Lifetimes on offer, shortest first. */
  readonly ttlSeconds?: readonly number[] | undefined;
  /** Idle time after which nothing is left for certain, where entries may outlive the promise. Default: the lifetime. */
  readonly expiresWithinSeconds?: number | undefined;
  /** Reads and writes are counted in steps of so many tokens. Default 1. */
  readonly stepTokens?: number | undefined;
  /** A breakpoint finds entries at so many blocks up to itself. Default: at any. */
  readonly lookBackBlocks?: number | undefined;
  /** Only where one of so many latest requests ended can be read from. Default: an automatic cache has any prefix. */
  readonly requestEndsMatched?: number | undefined;
}
