/**
 * roundfold/conversation: what a conversation is made of. Messages, API rounds, tool calls with their results, where a list may be
 * cut, and how a broken one is mended.
 * @module
 */
export {
  type Bond,
  type LegalityProperty,
  legalCuts,
  legalityProperties,
  safeSplitPoint,
  whyNotCut,
} from './cuts.ts';
export { type ErrorCode, type Place, RoundfoldError } from './errors.ts';
export { type FileAccess, fileAccess } from './file-access.ts';
export {
  type Conversation,
  type Format,
  type Frame,
  type Recognition,
  type ToolDefinition,
  type ToolRules,
  withMessages,
  writeConversation,
} from './format.ts';
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
} from './message.ts';
export {
  ensureToolResultPairing,
  MISSING_RESULT_TEXT,
  type PairingOptions,
  PLACEHOLDER_TEXT,
} from './pairing.ts';
export { type GroupOptions, groupRounds, largestRound, nameRound, type Round } from './rounds.ts';
export { readSummaryMessage, SUMMARY_HEADING, summaryMessageText } from './summary-message.ts';
export { type BlockPosition, linkTools, type ToolLinks, type ToolPair } from './tool-links.ts';
