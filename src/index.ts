/**
 * roundfold, the library: read a conversation in any wire format, see its rounds and tokens, find out where it may be
 * cut, and mend it. Nothing here reaches third-party code or a Node module.
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
} from './compaction/breaker.ts';
export {
  type CallOptions,
  type Compactor,
  type CompactResult,
  createCompactor,
} from './compaction/compactor.ts';
export {
  type BreakerOptions,
  type BreakerStrategy,
  withBreaker,
} from './compaction/decorators/with-breaker.ts';
export {
  type HookDecision,
  type HookRun,
  type Hooks,
  withHooks,
} from './compaction/decorators/with-hooks.ts';
export {
  type DiffSide,
  formatLogRecord,
  type LoggingOptions,
  type LogRecord,
  type LogSink,
  type MessageDiff,
  withLogging,
} from './compaction/decorators/with-logging.ts';
export { type MinimumGainOptions, withMinimumGain } from './compaction/decorators/with-minimum-gain.ts';
export { withRecursionGuard } from './compaction/decorators/with-recursion-guard.ts';
export { withRedaction } from './compaction/decorators/with-redaction.ts';
export { type RetryOptions, withRetry } from './compaction/decorators/with-retry.ts';
export { type TimeoutOptions, withTimeout } from './compaction/decorators/with-timeout.ts';
export { withValidation } from './compaction/decorators/with-validation.ts';
export type { CompactionEvent, CompactorOptions } from './compaction/options.ts';
export type { RetryPolicy } from './compaction/overflow/choice.ts';
export {
  type ConversationTooLong,
  MAX_OVERFLOW_RETRIES,
  type OverflowRecovery,
  type OverflowRecoveryOptions,
  type OverflowRetry,
  recoverFromOverflow,
  type SentAtLast,
} from './compaction/overflow/recovery.ts';
export {
  describeRounds,
  type NamedRound,
  type RetryTruncation,
  type RetryTruncationOptions,
  type RoundDescription,
  truncateHeadForRetry,
} from './compaction/overflow/truncation.ts';
export type { PinOptions } from './compaction/plan/pins.ts';
export {
  type AppliedPlan,
  applyPlan,
  type Edit,
  type Fate,
  type Plan,
  type UndoRecord,
  undoPlan,
} from './compaction/plan/plan.ts';
export type { FateRun, Receipt } from './compaction/plan/receipt.ts';
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
  type StrategyFactory,
} from './compaction/plan/strategy.ts';
export { messagesToKeepIndex } from './compaction/plan/tail.ts';
export { clearToolResults } from './compaction/strategies/clear-tool-results.ts';
export { collapse } from './compaction/strategies/collapse.ts';
export { collapseReads } from './compaction/strategies/collapse-reads.ts';
export { ladder } from './compaction/strategies/ladder.ts';
export { none } from './compaction/strategies/none.ts';
export { createStrategy, strategies } from './compaction/strategies/registry.ts';
export { slidingWindow } from './compaction/strategies/sliding-window.ts';
export { snip } from './compaction/strategies/snip.ts';
export { stripMedia } from './compaction/strategies/strip-media.ts';
export { summarize } from './compaction/strategies/summarize.ts';
export { tokenBudget } from './compaction/strategies/token-budget.ts';
export type { Bond } from './conversation/bond.ts';
export { type ErrorCode, type Place, RoundfoldError } from './conversation/errors.ts';
export { type FileAccess, fileAccess } from './conversation/file-access.ts';
export {
  type Conversation,
  type Format,
  type Frame,
  type Recognition,
  type ToolDefinition,
  type ToolRules,
  withMessages,
  writeConversation,
} from './conversation/format.ts';
export {
  type LegalityProperty,
  legalCuts,
  legalityProperties,
  whyNotCut,
} from './conversation/legality.ts';
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
} from './conversation/message.ts';
export {
  ensureToolResultPairing,
  MISSING_RESULT_TEXT,
  type PairingOptions,
  PLACEHOLDER_TEXT,
} from './conversation/pairing.ts';
export {
  type GroupOptions,
  groupRounds,
  largestRound,
  nameRound,
  type Round,
} from './conversation/rounds.ts';
export { safeSplitPoint } from './conversation/split.ts';
export { readSummaryMessage, SUMMARY_HEADING, summaryMessageText } from './conversation/summary-message.ts';
export { type BlockPosition, linkTools, type ToolLinks, type ToolPair } from './conversation/tool-links.ts';
export type { ConversionChange } from './formats/convert/changes.ts';
export { type Conversion, conversionTargets, convertConversation } from './formats/convert/convert.ts';
export { langchainUpdate } from './formats/langchain-update.ts';
export { readAnswer } from './formats/overflow/answer.ts';
export { parseOverflow, tokenGap } from './formats/overflow/detect.ts';
export type { Overflow, OverflowKind } from './formats/overflow/overflow.ts';
export type { OverflowFacts } from './formats/overflow/overflow-facts.ts';
export { type Answer, detectSoftOverflow } from './formats/overflow/soft.ts';
export { findFormat, formats, readConversation, recogniseFormat } from './formats/registry.ts';
export { formatSummary } from './memory/model/format-summary.ts';
export { modelSummarizer } from './memory/model/model.ts';
export type {
  Completion,
  CompletionRequest,
  CompletionStop,
  ModelClient,
} from './memory/model/model-client.ts';
export type { ModelSummarizerOptions } from './memory/model/model-options.ts';
export { SUMMARY_SYSTEM, type SummaryPromptOptions, summaryPrompt } from './memory/model/prompt.ts';
export { renderTranscript, type TranscriptOptions } from './memory/model/render-transcript.ts';
export { type FoundSecret, type Redaction, redactSecrets } from './memory/redact/redact-secrets.ts';
export { memory } from './memory/summarizer.ts';
export type { Summarizer, SummaryFailure, SummaryOutcome, SummaryRequest } from './memory/summary-request.ts';
export { anthropicClient } from './providers/anthropic.ts';
export type { HttpClientOptions } from './providers/client-options.ts';
export { createEventSplitter, type EventSplitter, type StreamEvent } from './providers/event-stream.ts';
export { type CompleteFunction, functionClient } from './providers/function.ts';
export { type OpenaiClientOptions, openaiClient } from './providers/openai.ts';
export { type PreviewOptions, preview } from './report/preview.ts';
export { contextWindowForModel, findModel, type ModelOptions } from './tokens/catalog.ts';
export { createTokenEstimator, type TokenEstimator, type TokenEstimatorOptions } from './tokens/estimator.ts';
export {
  type LearnedRatio,
  learnRatio,
  measureContext,
  requestTokens,
  type TokenClass,
  type TokenMeasure,
  tokenClasses,
  tokensByClass,
} from './tokens/measure.ts';
export type { ModelInfo } from './tokens/model-info.ts';
export { o200kProfile, type TokenProfile, tokenProfileForModel } from './tokens/profiles.ts';
export { estimateTextTokens } from './tokens/text-estimator.ts';
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
} from './tokens/thresholds.ts';
