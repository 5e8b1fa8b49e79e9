import type { CacheTerms, SteppedRates } from '../../tokens/model-info.ts';

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

/** How the tokens of one request are billed. */
export interface BilledTokens {
  readonly readTokens: number;
  readonly writtenTokens: number;
  readonly uncachedTokens: number;
  readonly outputTokens: number;
}

/** A request in numbers. */
export interface RequestSize {
  readonly promptTokens: number;
  /** The head of the prompt that the cache still has. */
  readonly cachedTokens: number;
  /** Default 0. */
  readonly outputTokens?: number | undefined;
}

/**
 * How a request is billed whose end is cached: what is cached is read, the rest is written. Below the minimum of the
 * cache, and behind its last step, tokens are plain input.
 */
export function billRequest(set: PriceSet, request: RequestSize): BilledTokens {
  const { promptTokens, outputTokens = 0 } = request;
  const cache = cacheOf(set);
  const minimum = cache?.minimumPrefixTokens ?? 0;
  if (cache === undefined || promptTokens < minimum)
    return { readTokens: 0, writtenTokens: 0, uncachedTokens: promptTokens, outputTokens };
  const step = cache.stepTokens ?? 1;
  const cachedTokens = Math.min(request.cachedTokens, promptTokens);
  const readTokens = cachedTokens < minimum ? 0 : inSteps(cachedTokens, step);
  const end = inSteps(promptTokens, step);
  return { readTokens, writtenTokens: end - readTokens, uncachedTokens: promptTokens - end, outputTokens };
}

/** What that costs, in USD. */
export function costOf(set: PriceSet, billed: BilledTokens): number {
  const { readTokens, writtenTokens, uncachedTokens, outputTokens } = billed;
  const rates = ratesFor(set, readTokens + writtenTokens + uncachedTokens);
  return (
    readTokens * rates.read +
    writtenTokens * rates.write +
    uncachedTokens * rates.input +
    outputTokens * rates.output
  );
}

/** What a request costs, in USD. */
export function requestCost(set: PriceSet, request: RequestSize): number {
  return costOf(set, billRequest(set, request));
}

/** A call that nobody goes on from: what is not read is plain input, nothing is written. */
export function oneOffCost(
  set: PriceSet,
  { promptTokens, cachedTokens, outputTokens = 0 }: RequestSize,
): number {
  const readTokens = Math.min(cachedTokens, promptTokens);
  return costOf(set, {
    readTokens,
    writtenTokens: 0,
    uncachedTokens: promptTokens - readTokens,
    outputTokens,
  });
}

// Estimates may be fractions of a token: those are only rounded where the provider rounds.
function inSteps(tokens: number, step: number): number {
  return step <= 1 ? tokens : tokens - (tokens % step);
}
