/** What requests and rewrites cost with a prompt cache, in USD. */

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

/** What a call costs that no later request continues: what is not read is plain input, nothing is written. */
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

/** A planned compaction in numbers: everything up to its first changed message stays, what is behind it gets smaller. */
export interface Rewrite {
  readonly prices: PriceSet;
  /** Instructions, tools and the messages before the first one that changes. */
  readonly tokensBefore: number;
  /** From the first changed message on, as it is now, up to the end of the request to be sent. */
  readonly tokensBehind: number;
  /** The same after the compaction. */
  readonly tokensBehindAfter: number;
  /** Tokens at the end of the prompt that no request had yet. Default: `tokensPerTurn`. */
  readonly newTokens?: number | undefined;
  /**
   * Of `tokensBefore`, what can still be read because a cache entry ends there: instructions and tools, if requests mark
   * their end. `PromptCache.cachedTokens` knows exactly. Default: all where the cache has any prefix, else nothing.
   */
  readonly reusableTokens?: number | undefined;
  /** Seconds since the last request was sent. */
  readonly idleSeconds: number;
  /** What each turn adds, answer included. See `growthPerTurn`. */
  readonly tokensPerTurn: number;
  /** The call that writes the summary, if a model does. `cachedTokens`: what it reads if it goes on from the same prefix. */
  readonly summaryCall?: (RequestSize & { readonly prices?: PriceSet | undefined }) | undefined;
}

/** What a compaction costs and saves, in USD. */
export interface RewriteQuote {
  /** Tokens of the prompt as it is and as it would be. */
  readonly promptTokens: number;
  readonly promptTokensAfter: number;
  readonly removedTokens: number;
  readonly isCacheExpired: boolean;
  /** The next request as it is. */
  readonly keepCost: number;
  /** The next request rewritten, and the summary call. */
  readonly rewriteCost: number;
  /** What the rewrite costs more now; negative when it is cheaper at once. */
  readonly extraCost: number;
  /** What it saves in the request after the next one, if that one comes before the cache expires. */
  readonly savedPerTurn: number;
  /** Turns after the next request until it has paid; 0 when it is cheaper at once; infinite when it never is. */
  readonly breakEvenTurns: number;
}

// Nobody waits longer for a compaction to pay.
const MAX_TURNS = 2000;

// Growth matters only where it leads above a price step. How a conversation grows is known for the next turns at best.
const GROWTH_TURNS = 3;

/**
 * What a compaction costs before it happens. Later turns are counted with a warm cache and no further compaction, and
 * with a price step only if it is crossed within three turns. Turns after a pause save more than that, so the
 * break-even is an upper bound.
 */
export function quoteRewrite(rewrite: Rewrite): RewriteQuote {
  const { prices, tokensBefore, tokensBehind, tokensBehindAfter, idleSeconds } = rewrite;
  const promptTokens = tokensBefore + tokensBehind;
  const promptTokensAfter = tokensBefore + tokensBehindAfter;
  const isExpired = isCacheExpired(prices, idleSeconds);
  const sentTokens = isExpired ? 0 : Math.max(0, promptTokens - (rewrite.newTokens ?? rewrite.tokensPerTurn));
  const reusable = Math.min(rewrite.reusableTokens ?? certainlyReusable(rewrite), tokensBefore, sentTokens);
  const keepCost = requestCost(prices, { promptTokens, cachedTokens: sentTokens });
  const rewritten = { promptTokens: promptTokensAfter, cachedTokens: reusable };
  const rewriteCost = requestCost(prices, rewritten) + summaryCost(rewrite);
  const savedAt = (turn: number): number => savedInTurn(rewrite, turn);
  return {
    promptTokens,
    promptTokensAfter,
    removedTokens: promptTokens - promptTokensAfter,
    isCacheExpired: isExpired,
    keepCost,
    rewriteCost,
    extraCost: rewriteCost - keepCost,
    savedPerTurn: savedAt(1),
    breakEvenTurns: turnsUntil(rewriteCost - keepCost, savedAt),
  };
}

/**
 * The fewest tokens that must go so that no later turn can cost more than without the compaction, whatever comes: a
 * shorter prompt may miss a step of the cache, or its minimum.
 */
export function safeRemovalTokens({ prices, tokensBefore, tokensBehindAfter }: Rewrite): number {
  if (cacheOf(prices) === undefined) return 0;
  const { stepTokens = 1, minimumPrefixTokens = 0 } = prices.cache ?? {};
  const isCached = tokensBefore + tokensBehindAfter >= minimumPrefixTokens;
  const perRates = ({ read, write, input }: Rates): number => {
    const forSteps = stepTokens <= 1 ? 0 : stepTokens * (1 + (write + input) / read);
    const forMinimum = isCached ? 0 : (minimumPrefixTokens * (Math.max(write, input) - read)) / read;
    return Math.max(forSteps, forMinimum);
  };
  return Math.max(perRates(ratesFor(prices, 0)), perRates(ratesFor(prices, Number.POSITIVE_INFINITY)));
}

/** Tokens in front of the first change that any cache with such terms still has. */
export function certainlyReusable({
  prices,
  tokensBefore,
}: Pick<Rewrite, 'prices' | 'tokensBefore'>): number {
  const hasAnyPrefix = prices.cache?.writes === 'automatic' && prices.cache.requestEndsMatched === undefined;
  return hasAnyPrefix ? tokensBefore : 0;
}

function summaryCost({ summaryCall, prices }: Rewrite): number {
  return summaryCall === undefined ? 0 : oneOffCost(summaryCall.prices ?? prices, summaryCall);
}

/** What the compaction saves in the n-th request after the next one. */
function savedInTurn(rewrite: Rewrite, turn: number): number {
  const { prices, tokensBefore, tokensPerTurn } = rewrite;
  const costFrom = (tokensBehind: number): number => {
    const cachedTokens = tokensBefore + tokensBehind + (Math.min(turn, GROWTH_TURNS) - 1) * tokensPerTurn;
    return requestCost(prices, { promptTokens: cachedTokens + tokensPerTurn, cachedTokens });
  };
  return costFrom(rewrite.tokensBehind) - costFrom(rewrite.tokensBehindAfter);
}

function turnsUntil(extraCost: number, savedAt: (turn: number) => number): number {
  if (extraCost <= 0) return 0;
  let owed = extraCost;
  for (let turn = 1; turn < GROWTH_TURNS; turn++) {
    const saved = savedAt(turn);
    if (saved >= owed) return turn - 1 + owed / saved;
    owed -= saved;
  }
  const turns = GROWTH_TURNS - 1 + owed / savedAt(GROWTH_TURNS);
  return turns > 0 && turns <= MAX_TURNS ? turns : Number.POSITIVE_INFINITY;
}
