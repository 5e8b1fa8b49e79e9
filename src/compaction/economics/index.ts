/** What requests and compactions cost: prices, prompt caches, break-even, advice. */
export {
  type AdviceReason,
  adviseCompaction,
  type CompactionAdvice,
  type CompactionQuestion,
  promptLimitTokens,
} from './advice.ts';
export { expectedRemainingTurns, growthPerTurn } from './expectations.ts';
export { explainAdvice } from './explain.ts';
export { type CostLedger, emptyLedger, type LedgerTurn, savedSoFar, settleTurn } from './ledger.ts';
export { isCacheExpired, type PriceSet, priceSetOf } from './price-set.ts';
export { createPromptCache, type PromptRequest, type PromptSegment } from './prompt-cache.ts';
export { type ReplayCost, replayCost, replayRequests } from './replay.ts';
export { quoteRewrite, type Rewrite, type RewriteQuote, safeRemovalTokens } from './rewrite-quote.ts';
