import { cacheOf, type PriceSet, ratesFor } from './price-set.ts';

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
