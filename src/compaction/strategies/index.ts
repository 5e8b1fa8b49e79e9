/**
 * roundfold/strategies: ways to make a conversation smaller, what can be put around them, and what a strategy of your own is made
 * with. Plans are data: apply, store, undo.
 * @module
 */
export {
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  COOL_DOWN_TURNS,
  initialAutoCompactState,
  MAX_CONSECUTIVE_FAILURES,
  MAX_RAPID_REFILLS,
  MAX_USELESS_PASSES,
  RAPID_REFILL,
  RAPID_REFILL_TURNS,
  shouldAutoCompact,
} from '../auto-compact.ts';
export { formatLogRecord, type LogRecord } from '../decorators/log-record.ts';
export type { DiffSide, MessageDiff } from '../decorators/message-diff.ts';
export { type BreakerOptions, type BreakerStrategy, withBreaker } from '../decorators/with-breaker.ts';
export { type HookDecision, type HookRun, type Hooks, withHooks } from '../decorators/with-hooks.ts';
export { type LoggingOptions, type LogSink, withLogging } from '../decorators/with-logging.ts';
export { type MinimumGainOptions, withMinimumGain } from '../decorators/with-minimum-gain.ts';
export { withRecursionGuard } from '../decorators/with-recursion-guard.ts';
export { withRedaction } from '../decorators/with-redaction.ts';
export { type RetryOptions, withRetry } from '../decorators/with-retry.ts';
export { type TimeoutOptions, withTimeout } from '../decorators/with-timeout.ts';
export { withValidation } from '../decorators/with-validation.ts';
export type { CompactionEvent } from '../events.ts';
export { messagesToKeepIndex } from '../keep-index.ts';
export { describeRounds, type NamedRound, type RoundDescription } from '../overflow/describe-rounds.ts';
export {
  type ConversationTooLong,
  MAX_OVERFLOW_RETRIES,
  type OverflowRecovery,
  type OverflowRecoveryOptions,
  type OverflowRetry,
  recoverFromOverflow,
  type SentAtLast,
} from '../overflow/overflow-recovery.ts';
export type { RetryPolicy } from '../overflow/policy.ts';
export {
  type RetryTruncation,
  type RetryTruncationOptions,
  truncateHeadForRetry,
} from '../overflow/retry-truncation.ts';
export type { Edit, Fate } from '../plan/edit.ts';
export type { PinOptions } from '../plan/pins.ts';
export { type AppliedPlan, applyPlan, type Plan, type UndoRecord, undoPlan } from '../plan/plan.ts';
export { type FateRun, type Receipt, requestTokens } from '../plan/receipt.ts';
export {
  type Change,
  type Compacted,
  type CompactTrigger,
  changeOf,
  defineStrategy,
  finish,
  type NotCompacted,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
  type StrategyDefinition,
} from '../plan/strategy.ts';
export {
  clearToolResults,
  collapse,
  collapseReads,
  ladder,
  none,
  type StrategyFactory,
  slidingWindow,
  snip,
  stripMedia,
  summarize,
  tokenBudget,
} from './factories.ts';
export { createStrategy, strategies } from './registry.ts';
