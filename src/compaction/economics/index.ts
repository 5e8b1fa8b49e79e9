/**
 * roundfold/economics: what requests and compactions cost. Prices, prompt caches, break-even, advice.
 * @module
 */

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
export {
  isCacheExpired,
  type PriceSet,
  priceSetOf,
  quoteRewrite,
  type Rewrite,
  type RewriteQuote,
  safeRemovalTokens,
} from './costs.ts';
export { type CostLedger, emptyLedger, type LedgerTurn, savedSoFar, settleTurn } from './ledger.ts';
export {
  createPromptCache,
  type PromptRequest,
  type PromptSegment,
  type ReplayCost,
  replayCost,
  replayRequests,
} from './prompt-cache.ts';
