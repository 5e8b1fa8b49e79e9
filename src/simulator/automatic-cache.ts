import { findModel } from '../tokens/catalog.ts';
import type { CacheLedger } from './cache-ledger.ts';
import type { Prompt } from './prompt.ts';

/** Memory of models for which no lifetime is promised, in seconds. */
const defaultTtlSeconds = 600;

/** What OpenAI reports about its prompt cache. Writes are counted for models that charge for them. */
export interface AutomaticCacheDetails {
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
}

/** Looks the prompt up in the automatic cache of its model and remembers it there. */
export function automaticCacheUse(ledger: CacheLedger, prompt: Prompt, model: string): AutomaticCacheDetails {
  const info = findModel(model);
  const ttlSeconds = info?.cache?.ttlSeconds?.[0] ?? defaultTtlSeconds;
  const { readTokens, writtenTokens } = ledger.useAutomatic(prompt, ttlSeconds * 1000);
  const isWriteCharged = info?.prices?.cacheWrite !== undefined;
  return { cached_tokens: readTokens, cache_write_tokens: isWriteCharged ? writtenTokens : 0 };
}
