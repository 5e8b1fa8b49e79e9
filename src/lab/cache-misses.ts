/** What a prompt cache did not have, why not, and what that cost. */

import {
  cacheOf,
  entryTtlSeconds,
  type PriceSet,
  priceSetOf,
  ratesFor,
} from '../compaction/economics/costs.ts';
import { findModel } from '../tokens/catalog.ts';
import { promptTokensOf, type RecordedRequest } from '../transcripts/requests.ts';

/**
 * Why a request found less in the cache than the request before it had sent. `changed-prefix` is what is left when the record
 * shows no other reason: something in front was edited, or the provider dropped the entry early.
 */
export type MissCause = (typeof missCauses)[number];

/** Every cause, in the order in which reports list them. */
export const missCauses = [
  'first-request',
  'compaction',
  'another-model',
  'pause',
  'changed-prefix',
] as const;

/** A request that sent tokens at the full price which a cache could have had. */
export interface CacheMiss {
  readonly request: RecordedRequest;
  readonly cause: MissCause;
  readonly tokens: number;
  /** What these tokens cost beyond reading them from a cache. */
  readonly dollars: number;
}

/** Fewer tokens may be missing because of where a cache ends its entries. */
const WORTH_NAMING_TOKENS = 1024;

/** The misses of one recording's requests, oldest first. Requests of models without a known price are left out. */
export function cacheMissesOf(requests: readonly RecordedRequest[]): readonly CacheMiss[] {
  return requests.flatMap((request, index) => {
    const prices = pricesOf([request]);
    if (prices === undefined || cacheOf(prices) === undefined) return [];
    const before = requests[index - 1];
    const cause = causeOf(request, before);
    const promptTokens = promptTokensOf(request.charge);
    const isContinued = before !== undefined && (cause === 'pause' || cause === 'changed-prefix');
    const expected = isContinued ? Math.min(promptTokens, promptTokensOf(before.charge)) : promptTokens;
    const tokens = expected - request.charge.cacheReadTokens;
    return tokens <= WORTH_NAMING_TOKENS
      ? []
      : [{ request, cause, tokens, dollars: surcharge(request, tokens, prices) }];
  });
}

function causeOf(request: RecordedRequest, before: RecordedRequest | undefined): MissCause {
  if (before === undefined) return 'first-request';
  if (before.segment !== request.segment) return 'compaction';
  if (before.charge.model !== request.charge.model) return 'another-model';
  const prices = pricesOf([before]);
  const idleSeconds = (sentSeconds(request) ?? 0) - (sentSeconds(before) ?? Number.POSITIVE_INFINITY);
  return prices !== undefined && idleSeconds >= entryTtlSeconds(prices) ? 'pause' : 'changed-prefix';
}

/** Tokens that were written to a cache cost more than those that were not. */
function surcharge({ charge }: RecordedRequest, tokens: number, prices: PriceSet): number {
  const { input, read } = ratesFor(prices, promptTokensOf(charge));
  const write = (lifetime: 'short' | 'long'): number =>
    ratesFor({ ...prices, lifetime }, promptTokensOf(charge)).write;
  const { cacheWriteTokens, cacheWriteHourTokens } = charge;
  const hour = Math.min(tokens, cacheWriteHourTokens);
  const short = Math.min(tokens - hour, cacheWriteTokens);
  const paid = hour * write('long') + short * write('short') + (tokens - hour - short) * input;
  return paid - tokens * read;
}

/** When a request was sent, as far as the file tells. */
export function sentSeconds({ sentAt, charge }: RecordedRequest): number | undefined {
  const seconds = Date.parse(sentAt ?? charge.timestamp ?? '') / 1000;
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** The prices of requests of one model on the day of the first, with the lifetime that most of what they wrote has. */
export function pricesOf(requests: readonly RecordedRequest[]): PriceSet | undefined {
  const charge = requests[0]?.charge;
  const info = charge?.model === undefined ? undefined : findModel(charge.model);
  const day = /^\d{4}-\d\d-\d\d/.exec(charge?.timestamp ?? '')?.[0];
  const prices = info === undefined ? undefined : priceSetOf(info, day);
  if (prices === undefined) return undefined;
  const sum = (key: 'cacheWriteTokens' | 'cacheWriteHourTokens'): number =>
    requests.reduce((total, request) => total + request.charge[key], 0);
  return { ...prices, lifetime: sum('cacheWriteHourTokens') > sum('cacheWriteTokens') ? 'long' : 'short' };
}
