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
