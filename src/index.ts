/**
 * roundfold, the library: read a conversation in any wire format, see its rounds and tokens, find out where it may be
 * cut, and mend it. Nothing here reaches third-party code or a Node module.
 * @module
 */
export {
  CRITICAL_FRACTION,
  type TokenWarningState,
  tokenWarningState,
  WARNING_FRACTION,
} from './core/budget.ts';
export { type ErrorCode, type Place, RoundfoldError } from './core/errors.ts';
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
export {
  type Bond,
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
export {
  ensureToolResultPairing,
  MISSING_RESULT_TEXT,
  type PairingOptions,
  PLACEHOLDER_TEXT,
} from './core/pairing.ts';
export { type GroupOptions, groupRounds, largestRound, nameRound, type Round } from './core/rounds.ts';
export { safeSplitPoint } from './core/split.ts';
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
export { createEventSplitter, type EventSplitter, type StreamEvent } from './formats/event-stream.ts';
export { langchainUpdate } from './formats/langchain-update.ts';
export { readAnswer } from './formats/overflow/answer.ts';
export { parseOverflow, tokenGap } from './formats/overflow/detect.ts';
export type { Overflow, OverflowKind } from './formats/overflow/overflow.ts';
export { type Answer, detectSoftOverflow } from './formats/overflow/soft.ts';
export { findFormat, formats, readConversation, recogniseFormat } from './formats/registry.ts';
export { contextWindowForModel, findModel, type ModelOptions } from './models/catalog.ts';
export type { ModelInfo } from './models/model-info.ts';
export { tokenProfileForModel } from './models/token-profiles.ts';
