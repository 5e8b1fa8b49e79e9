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

/** What a model's tokens cost and how its prompt cache works. A row of a model catalog that has prices is one. */
export interface PriceSet {
  readonly prices: SteppedRates;
  /** Undefined: nothing is cached. */
  readonly cache?: CacheTerms | undefined;
  /** Which of the lifetimes on offer is bought. Default `short`. */
  readonly lifetime?: 'short' | 'long' | undefined;
}

/** A model whose prices may change on known days. */
export interface PricedModel {
  readonly prices?: SteppedRates | undefined;
  /** Oldest first. */
  readonly priceChanges?: readonly { readonly from: string; readonly prices: SteppedRates }[] | undefined;
  readonly cache?: CacheTerms | undefined;
}

/** The price set of a model on a day (`2026-12-24`); of its own date by default. Undefined when it has no prices. */
export function priceSetOf(model: PricedModel, day?: string): PriceSet | undefined {
  const change =
    day === undefined ? undefined : model.priceChanges?.findLast(({ from }) => from <= day.slice(0, 10));
  const prices = change?.prices ?? model.prices;
  return prices === undefined ? undefined : { prices, cache: model.cache };
}

/** Prices of one request, none of them unknown, in USD per token. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly read: number;
  readonly write: number;
}

const PER_MILLION = 1e-6;

/** What the tokens of a request with such a prompt cost. */
export function ratesFor({ prices, lifetime }: PriceSet, promptTokens: number): Rates {
  const { longContext } = prices;
  const isLong = longContext !== undefined && promptTokens > longContext.abovePromptTokens;
  const rates = isLong ? longContext : prices;
  const write = lifetime === 'long' ? (rates.cacheWriteLong ?? rates.cacheWrite) : rates.cacheWrite;
  return {
    input: rates.input * PER_MILLION,
    output: rates.output * PER_MILLION,
    read: (rates.cacheRead ?? rates.input) * PER_MILLION,
    write: (write ?? rates.input) * PER_MILLION,
  };
}

/** The terms of the cache, where using it is cheaper than not using it. */
export function cacheOf({ prices, cache }: PriceSet): CacheTerms | undefined {
  return prices.cacheRead === undefined ? undefined : cache;
}

// Of a cache that promises nothing, entries may be there the next day.
const UNPROMISED_TTL_SECONDS = 86_400;

/** How long an entry lives after its last use, as promised. */
export function entryTtlSeconds(set: PriceSet): number {
  const offered = set.cache?.ttlSeconds;
  return (set.lifetime === 'long' ? offered?.at(-1) : offered?.[0]) ?? UNPROMISED_TTL_SECONDS;
}

/**
 * Whether nothing of a prompt is cached any more after so many idle seconds: a rewrite costs nothing extra then. Where
 * entries may outlive their promise, only when the last of them has expired.
 */
export function isCacheExpired(set: PriceSet, idleSeconds: number): boolean {
  if (cacheOf(set) === undefined) return true;
  const atMost = set.lifetime === 'long' ? undefined : set.cache?.expiresWithinSeconds;
  return idleSeconds >= Math.max(atMost ?? 0, entryTtlSeconds(set));
}
