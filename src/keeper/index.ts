/**
 * What keeps conversations between turns: `roundfold/keeper`. Checkpoints that are true of every conversation that begins
 * with the same messages, views made from them, and the arithmetic for clients that keep a view of ours themselves.
 * @module
 */
export {
  type AtomicGroup,
  alignToGroup,
  atomicGroups,
  protectedHeadEnd,
} from '../conversation/atomic-groups.ts';
export {
  type Chain,
  type ChainOptions,
  type Chains,
  createChains,
  type Hash,
  type HashStream,
  nameOfConversation,
} from '../conversation/chain.ts';
export { sha256 } from '../conversation/sha256.ts';
export {
  type ReadSummary,
  readMarkedSummary,
  type SummaryMarker,
  summaryMessageText,
} from '../conversation/summary-message.ts';
export type { VolatileParts } from '../conversation/volatile.ts';
export { type FoldedView, foldView } from '../formats/folded/fold-view.ts';
export { shortenToolIds, shortToolId } from '../formats/folded/short-tool-ids.ts';
export { type Folding, type UnfoldedView, unfoldView } from '../formats/folded/unfold-view.ts';
export { type FoundMarker, findMarker, isMarker, MARKER_SOURCE } from '../memory/markers.ts';
export type * from '../stores/store.ts';
export { type Cuts, cutsOf } from './cuts.ts';
export { type FindOptions, findCheckpoint, isTrueOf } from './find-checkpoint.ts';
export type { Schedule } from './held-lease.ts';
export {
  createKeeper,
  type Keeper,
  type Prepared,
  type PreparedStatus,
  type PrepareOptions,
} from './keeper.ts';
export type { KeeperEvent, PassReason, StoreOperation } from './keeper-event.ts';
export type { KeeperOptions } from './keeper-options.ts';
export {
  isProgress,
  originalCount,
  previewTailStart,
  progressStart,
  readView,
  savedProgress,
  type TargetOptions,
  targetProgress,
  type ViewState,
} from './progress.ts';
export {
  type ProgressInput,
  type ProgressInputOptions,
  type ProgressInputResult,
  progressInput,
} from './progress-input.ts';
export { type NextViewOptions, nextView } from './progress-view.ts';
export { projectView, type ViewOptions } from './project-view.ts';
