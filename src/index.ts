/**
 * roundfold, the library: keep a long conversation inside its window, in any wire format. Everything else of the library is
 * under the names of its rooms: `roundfold/conversation`, `roundfold/formats`, `roundfold/tokens`, `roundfold/memory`,
 * `roundfold/strategies`, `roundfold/providers` and others. Nothing here reaches third-party code or a Node module.
 * @module
 */
export { type AutoCompactState, shouldAutoCompact } from './compaction/breaker.ts';
export {
  type CallOptions,
  type Compactor,
  type CompactResult,
  createCompactor,
} from './compaction/compactor.ts';
export { withLogging } from './compaction/decorators/with-logging.ts';
export type { CompactionEvent, CompactorOptions } from './compaction/options.ts';
export { recoverFromOverflow } from './compaction/overflow/recovery.ts';
export { truncateHeadForRetry } from './compaction/overflow/truncation.ts';
export type { Edit } from './compaction/plan/plan.ts';
export { type Plan, type UndoRecord, undoPlan } from './compaction/plan/plan.ts';
export type { Receipt } from './compaction/plan/receipt.ts';
export {
  changeOf,
  defineStrategy,
  finish,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from './compaction/plan/strategy.ts';
export { clearToolResults } from './compaction/strategies/clear-tool-results.ts';
export { collapseReads } from './compaction/strategies/collapse-reads.ts';
export { ladder } from './compaction/strategies/ladder.ts';
export { slidingWindow } from './compaction/strategies/sliding-window.ts';
export { snip } from './compaction/strategies/snip.ts';
export { summarize } from './compaction/strategies/summarize.ts';
export { tokenBudget } from './compaction/strategies/token-budget.ts';
export { safeSplitPoint } from './conversation/cuts.ts';
export { RoundfoldError } from './conversation/errors.ts';
export { type Conversation, type Format, writeConversation } from './conversation/format.ts';
export { type Block, type Message, textOf, type Usage } from './conversation/message.ts';
export { ensureToolResultPairing } from './conversation/pairing.ts';
export { groupRounds, type Round } from './conversation/rounds.ts';
export { convertConversation } from './formats/convert/convert.ts';
export type { Overflow } from './formats/overflow/detect.ts';
export { parseOverflow } from './formats/overflow/detect.ts';
export { readConversation } from './formats/registry.ts';
export { formatSummary } from './memory/model/accept.ts';
export { modelSummarizer } from './memory/model/model.ts';
export type { ModelClient } from './memory/model/model-client.ts';
export { memory } from './memory/summarizer.ts';
export type { Summarizer, SummaryOutcome, SummaryRequest } from './memory/summary-request.ts';
export { anthropicClient } from './providers/anthropic.ts';
export { functionClient } from './providers/function.ts';
export { openaiClient } from './providers/openai.ts';
export { contextWindowForModel } from './tokens/catalog.ts';
export { createTokenEstimator, type TokenEstimator } from './tokens/estimator.ts';
export {
  shouldCompact,
  type Thresholds,
  thresholdsFor,
  tokenWarningState,
} from './tokens/thresholds.ts';
