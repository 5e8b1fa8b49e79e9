/**
 * roundfold, the library: read a conversation in any wire format, see its rounds and tokens, find out where it may be
 * cut, and mend it. Nothing here reaches third-party code or a Node module.
 * @module
 */
export {
  type CallOptions,
  type Compactor,
  type CompactResult,
  createCompactor,
} from './config/compactor.ts';
export type { CompactorOptions } from './config/compactor-options.ts';
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
} from './core/auto-compact.ts';
export type { Bond } from './core/bond.ts';
export {
  AUTOCOMPACT_TRIGGER_FRACTION,
  COLLAPSE_FRACTION,
  CRITICAL_FRACTION,
  RESERVE_TOKENS,
  shouldCompact,
  shouldContextCollapse,
  type ThresholdOptions,
  type Thresholds,
  type TokenWarningState,
  TRIGGER_MARGIN_TOKENS,
  thresholdsFor,
  tokenWarningState,
  WARNING_FRACTION,
} from './core/budget.ts';
export { describeRounds, type NamedRound, type RoundDescription } from './core/describe-rounds.ts';
export type { Edit, Fate } from './core/edit.ts';
export { type ErrorCode, type Place, RoundfoldError } from './core/errors.ts';
export { createEventSplitter, type EventSplitter, type StreamEvent } from './core/event-stream.ts';
export type { CompactionEvent } from './core/events.ts';
export { type FileAccess, fileAccess } from './core/file-access.ts';
export {
  type Conversation,
  type Format,
  type Frame,
  type Recognition,
  type ToolDefinition,
  type ToolRules,
  withMessages,
  writeConversation,
} from './core/format.ts';
export { messagesToKeepIndex } from './core/keep-index.ts';
export {
  type LegalityProperty,
  legalCuts,
  legalityProperties,
  whyNotCut,
} from './core/legality.ts';
export {
  type Block,
  type CompactionBlock,
  callArguments,
  hasToolCall,
  hasToolResult,
  isUserText,
  type MediaBlock,
  type Message,
  type OtherBlock,
  type ReasoningBlock,
  type Role,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
  type Usage,
} from './core/message.ts';
export type { Completion, CompletionRequest, CompletionStop, ModelClient } from './core/model-client.ts';
export type { OverflowFacts } from './core/overflow-facts.ts';
export {
  type ConversationTooLong,
  MAX_OVERFLOW_RETRIES,
  type OverflowRecovery,
  type OverflowRecoveryOptions,
  type OverflowRetry,
  recoverFromOverflow,
  type SentAtLast,
} from './core/overflow-recovery.ts';
export {
  ensureToolResultPairing,
  MISSING_RESULT_TEXT,
  type PairingOptions,
  PLACEHOLDER_TEXT,
} from './core/pairing.ts';
export type { PinOptions } from './core/pins.ts';
export { type AppliedPlan, applyPlan, type Plan, type UndoRecord, undoPlan } from './core/plan.ts';
export { type FateRun, type Receipt, requestTokens } from './core/receipt.ts';
export type { RetryPolicy } from './core/retry/policy.ts';
export {
  type RetryTruncation,
  type RetryTruncationOptions,
  truncateHeadForRetry,
} from './core/retry-truncation.ts';
export { type GroupOptions, groupRounds, largestRound, nameRound, type Round } from './core/rounds.ts';
export { safeSplitPoint } from './core/split.ts';
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
} from './core/strategy.ts';
export type { Summarizer, SummaryFailure, SummaryOutcome, SummaryRequest } from './core/summarizer.ts';
export { readSummaryMessage, SUMMARY_HEADING, summaryMessageText } from './core/summary-message.ts';
export { estimateTextTokens } from './core/text-estimator.ts';
export { type TokenClass, tokenClasses, tokensByClass } from './core/token-classes.ts';
export {
  createTokenEstimator,
  type TokenEstimator,
  type TokenEstimatorOptions,
} from './core/token-estimator.ts';
export { o200kProfile, type TokenProfile } from './core/token-profile.ts';
export { type LearnedRatio, learnRatio, measureContext, type TokenMeasure } from './core/tokens.ts';
export { type BlockPosition, linkTools, type ToolLinks, type ToolPair } from './core/tool-links.ts';
export { formatLogRecord, type LogRecord } from './decorators/log-record.ts';
export type { DiffSide, MessageDiff } from './decorators/message-diff.ts';
export { type BreakerOptions, type BreakerStrategy, withBreaker } from './decorators/with-breaker.ts';
export { type HookDecision, type HookRun, type Hooks, withHooks } from './decorators/with-hooks.ts';
export { type LoggingOptions, type LogSink, withLogging } from './decorators/with-logging.ts';
export { type MinimumGainOptions, withMinimumGain } from './decorators/with-minimum-gain.ts';
export { withRecursionGuard } from './decorators/with-recursion-guard.ts';
export { withRedaction } from './decorators/with-redaction.ts';
export { type RetryOptions, withRetry } from './decorators/with-retry.ts';
export { type TimeoutOptions, withTimeout } from './decorators/with-timeout.ts';
export { withValidation } from './decorators/with-validation.ts';
export type { ConversionChange } from './formats/convert/changes.ts';
export { type Conversion, conversionTargets, convertConversation } from './formats/convert/convert.ts';
export { langchainUpdate } from './formats/langchain-update.ts';
export { readAnswer } from './formats/overflow/answer.ts';
export { parseOverflow, tokenGap } from './formats/overflow/detect.ts';
export type { Overflow, OverflowKind } from './formats/overflow/overflow.ts';
export { type Answer, detectSoftOverflow } from './formats/overflow/soft.ts';
export { findFormat, formats, readConversation, recogniseFormat } from './formats/registry.ts';
export { memory } from './memory/summarizer.ts';
export { contextWindowForModel, findModel, type ModelOptions } from './models/catalog.ts';
export { anthropicClient } from './models/clients/anthropic.ts';
export type { HttpClientOptions } from './models/clients/client-options.ts';
export { type CompleteFunction, functionClient } from './models/clients/function.ts';
export { type OpenaiClientOptions, openaiClient } from './models/clients/openai.ts';
export type { ModelInfo } from './models/model-info.ts';
export { tokenProfileForModel } from './models/token-profiles.ts';
export { type FoundSecret, type Redaction, redactSecrets } from './redact/redact-secrets.ts';
export { type PreviewOptions, preview } from './report/preview.ts';
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
} from './strategies/factories.ts';
export { createStrategy, strategies } from './strategies/registry.ts';
export { formatSummary } from './summarizers/format-summary.ts';
export { modelSummarizer } from './summarizers/model.ts';
export type { ModelSummarizerOptions } from './summarizers/model-options.ts';
export { SUMMARY_SYSTEM, type SummaryPromptOptions, summaryPrompt } from './summarizers/prompt.ts';
export { renderTranscript, type TranscriptOptions } from './summarizers/render-transcript.ts';
