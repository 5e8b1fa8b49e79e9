/**
 * Which tokenizer a model's counts come from, as far as an estimate can tell them apart. `claude-4.7` yields about 30 %
 * more tokens than `claude` for the same text.
 */
export type TokenizerFamily = 'claude' | 'claude-4.7' | 'o200k' | 'cl100k' | 'gemini' | 'other';

/** List prices in USD per million tokens. What is undefined is unknown, or not charged (`cacheWrite`). */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  /** For the shortest lifetime of a cache entry. */
  readonly cacheWrite?: number | undefined;
  /** For the longest lifetime of a cache entry. */
  readonly cacheWriteLong?: number | undefined;
}

/** List prices with their step for long prompts, if there is one. */
export interface ModelPrices extends TokenPrices {
  /** Prices of the whole request once its prompt exceeds so many tokens. */
  readonly longContext?: (TokenPrices & { readonly abovePromptTokens: number }) | undefined;
}

/** Prices that apply from a day on. */
export interface PriceChange {
  /** First day of the new prices, `2026-12-01`. */
  readonly from: string;
  readonly prices: ModelPrices;
}

/** When a provider's prompt cache works, and for how long. */
export interface CacheRules {
  /** Whether the request must mark what is to be cached. */
  readonly writes: 'at-breakpoints' | 'automatic';
  /** Shorter prefixes are silently not cached. */
  readonly minimumPrefixTokens?: number | undefined;
  /** Lifetimes on offer, shortest first. Undefined when none is promised. */
  readonly ttlSeconds?: readonly number[] | undefined;
  /** Idle time after which nothing is left for certain, where entries may outlive the shortest lifetime. */
  readonly expiresWithinSeconds?: number | undefined;
  /** Reads and writes are counted in steps of so many tokens. */
  readonly stepTokens?: number | undefined;
  /** A breakpoint finds entries at so many blocks up to itself. */
  readonly lookBackBlocks?: number | undefined;
  /** Only where one of so many latest requests ended can be read from. Undefined: there is no such limit. */
  readonly requestEndsMatched?: number | undefined;
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
  readonly prices?: ModelPrices | undefined;
  /** Announced prices, oldest first. `findModel` applies them when it is told a date. */
  readonly priceChanges?: readonly PriceChange[] | undefined;
  readonly cache?: CacheRules | undefined;
  /** Whether the model refuses its own reasoning behind a prefix that has changed. */
  readonly bindsReasoning?: boolean | undefined;
  /** Month of the figures, `2026-11`. */
  readonly asOf: string;
}
