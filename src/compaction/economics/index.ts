/** What requests and compactions cost: prices, prompt caches, break-even, advice. */

export { promptLimitTokens } from '../../tokens/thresholds.ts';
export {
  type AdviceReason,
  adviseCompaction,
  type CompactionAdvice,
  type CompactionQuestion,
  expectedRemainingTurns,
  explainAdvice,
  growthPerTurn,
} from './advice.ts';
export { type CostLedger, emptyLedger, type LedgerTurn, savedSoFar, settleTurn } from './ledger.ts';
export { isCacheExpired, type PriceSet, priceSetOf } from './prices.ts';
export {
  createPromptCache,
  type PromptRequest,
  type PromptSegment,
  type ReplayCost,
  replayCost,
  replayRequests,
} from './prompt-cache.ts';
export { quoteRewrite, type Rewrite, type RewriteQuote, safeRemovalTokens } from './quote.ts';
