import type { PriceSet } from './price-set.ts';
import { createPromptCache, type PromptRequest } from './prompt-cache.ts';
import { type BilledTokens, costOf } from './request-cost.ts';

/** What a sequence of requests costs. */
export interface ReplayCost extends BilledTokens {
  readonly requests: number;
  /** In USD. */
  readonly cost: number;
}

/** What a request of a sequence costs. */
export interface ReplayedRequest extends BilledTokens {
  /** In USD. */
  readonly cost: number;
}

/** Sends requests one after the other to an empty cache and gives what each of them costs. */
export function* replayRequests(
  requests: Iterable<PromptRequest>,
  prices: PriceSet,
): Generator<ReplayedRequest, void, undefined> {
  const cache = createPromptCache(prices);
  for (const request of requests) {
    const billed = cache.send(request);
    yield { ...billed, cost: costOf(prices, billed) };
  }
}

const nothing: ReplayCost = {
  requests: 0,
  readTokens: 0,
  writtenTokens: 0,
  uncachedTokens: 0,
  outputTokens: 0,
  cost: 0,
};

/** What a sequence of requests costs together, from an empty cache on. */
export function replayCost(requests: Iterable<PromptRequest>, prices: PriceSet): ReplayCost {
  let total = nothing;
  for (const replayed of replayRequests(requests, prices)) total = add(total, replayed);
  return total;
}

function add(total: ReplayCost, one: ReplayedRequest): ReplayCost {
  return {
    requests: total.requests + 1,
    readTokens: total.readTokens + one.readTokens,
    writtenTokens: total.writtenTokens + one.writtenTokens,
    uncachedTokens: total.uncachedTokens + one.uncachedTokens,
    outputTokens: total.outputTokens + one.outputTokens,
    cost: total.cost + one.cost,
  };
}
