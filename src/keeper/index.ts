/**
 * What keeps conversations between turns: `roundfold/keeper`. Checkpoints that are true of every conversation that begins
 * with the same messages, views made from them, and the arithmetic for clients that keep a view of ours themselves.
 * @module
 */
export {
  type AtomicGroup,
  alignToGroup,
  atomicGroups,
  lastingCuts,
  protectedHeadEnd,
} from '../conversation/cuts.ts';
export {
  type Chain,
  type ChainOptions,
  type Chains,
  createChains,
  nameOfConversation,
  type VolatileParts,
} from '../conversation/identity.ts';
export { type Hash, sha256 } from '../conversation/sha256.ts';
export {
  type ReadSummary,
  readMarkedSummary,
  type SummaryMarker,
  summaryMessageText,
} from '../conversation/summary-message.ts';
export { type FoldedView, foldView } from '../formats/folded/fold.ts';
export { shortenToolIds, shortToolId } from '../formats/folded/short-tool-ids.ts';
export { type Folding, type UnfoldedView, unfoldView } from '../formats/folded/unfold.ts';
export { type FoundMarker, findMarker, isMarker, MARKER_SOURCE } from '../memory/markers.ts';
export type * from '../stores/store.ts';
export { type FindOptions, findCheckpoint, isTrueOf } from './checkpoints.ts';
export {
  createKeeper,
  type Keeper,
  type Prepared,
  type PreparedStatus,
  type PrepareOptions,
} from './keeper.ts';
export type {
  KeeperEvent,
  KeeperOptions,
  PassReason,
  Schedule,
  StoreOperation,
} from './options.ts';
export {
  isProgress,
  type NextViewOptions,
  nextView,
  originalCount,
  type ProgressInput,
  type ProgressInputOptions,
  type ProgressInputResult,
  previewTailStart,
  progressInput,
  progressStart,
  readView,
  savedProgress,
  type TargetOptions,
  targetProgress,
  type ViewState,
} from './progress.ts';
export { projectView, type ViewOptions } from './views.ts';
