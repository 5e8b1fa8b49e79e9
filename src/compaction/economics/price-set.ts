import type { CacheTerms, SteppedRates } from '../../tokens/prices.ts';

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
