/**
 * roundfold/strategies: ways to make a conversation smaller, what can be put around them, and what a strategy of your own is made
 * with. Plans are data: apply, store, undo.
 * @module
 */

export { requestTokens } from '../../tokens/measure.ts';
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
} from '../breaker.ts';
export { type BreakerOptions, type BreakerStrategy, withBreaker } from '../decorators/with-breaker.ts';
export { type HookDecision, type HookRun, type Hooks, withHooks } from '../decorators/with-hooks.ts';
export {
  type DiffSide,
  formatLogRecord,
  type LoggingOptions,
  type LogRecord,
  type LogSink,
  type MessageDiff,
  withLogging,
} from '../decorators/with-logging.ts';
export { type MinimumGainOptions, withMinimumGain } from '../decorators/with-minimum-gain.ts';
export { withRecursionGuard } from '../decorators/with-recursion-guard.ts';
export { withRedaction } from '../decorators/with-redaction.ts';
export { type RetryOptions, withRetry } from '../decorators/with-retry.ts';
export { type TimeoutOptions, withTimeout } from '../decorators/with-timeout.ts';
export { withValidation } from '../decorators/with-validation.ts';
export type { CompactionEvent } from '../options.ts';
export type { RetryPolicy } from '../overflow/choice.ts';
export {
  type ConversationTooLong,
  MAX_OVERFLOW_RETRIES,
  type OverflowRecovery,
  type OverflowRecoveryOptions,
  type OverflowRetry,
  recoverFromOverflow,
  type SentAtLast,
} from '../overflow/recovery.ts';
export {
  describeRounds,
  type NamedRound,
  type RetryTruncation,
  type RetryTruncationOptions,
  type RoundDescription,
  truncateHeadForRetry,
} from '../overflow/truncation.ts';
export type { PinOptions } from '../plan/pins.ts';
export type { Edit, Fate } from '../plan/plan.ts';
export { type AppliedPlan, applyPlan, type Plan, type UndoRecord, undoPlan } from '../plan/plan.ts';
export type { FateRun, Receipt } from '../plan/receipt.ts';
export type { StrategyFactory } from '../plan/strategy.ts';
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
export { messagesToKeepIndex } from '../plan/tail.ts';
export { clearToolResults } from './clear-tool-results.ts';
export { collapse } from './collapse.ts';
export { collapseReads } from './collapse-reads.ts';
export { ladder } from './ladder.ts';
export { none } from './none.ts';
export { createStrategy, strategies } from './registry.ts';
export { slidingWindow } from './sliding-window.ts';
export { snip } from './snip.ts';
export { stripMedia } from './strip-media.ts';
export { summarize } from './summarize.ts';
export { tokenBudget } from './token-budget.ts';
