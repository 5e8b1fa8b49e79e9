/**
 * What keeps conversations between turns: `roundfold/keeper`. Checkpoints that are true of every conversation that begins
 * with the same messages, views made from them, and the arithmetic for clients that keep a view of ours themselves.
 * @module
 */
export { type AtomicGroup, alignToGroup, atomicGroups, protectedHeadEnd } from '../core/atomic-groups.ts';
export {
  type Chain,
  type ChainOptions,
  type Chains,
  createChains,
  type Hash,
  type HashStream,
  nameOfConversation,
} from '../core/chain.ts';
export type { Checkpoint, Stretch, ViewPart } from '../core/checkpoint.ts';
export { type Cuts, cutsOf } from '../core/cuts.ts';
export type { Schedule } from '../core/engine/held-lease.ts';
export type { KeeperEvent, PassReason, StoreOperation } from '../core/engine/keeper-event.ts';
export { type FindOptions, findCheckpoint, isTrueOf } from '../core/find-checkpoint.ts';
export { type FoundMarker, findMarker, isMarker, MARKER_SOURCE } from '../core/markers.ts';
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
} from '../core/progress.ts';
export {
  type ProgressInput,
  type ProgressInputOptions,
  type ProgressInputResult,
  progressInput,
} from '../core/progress-input.ts';
export { type NextViewOptions, nextView } from '../core/progress-view.ts';
export { projectView, type ViewOptions } from '../core/project-view.ts';
export type * from '../core/store.ts';
export {
  type ReadSummary,
  readMarkedSummary,
  type SummaryMarker,
  summaryMessageText,
} from '../core/summary-message.ts';
export type { VolatileParts } from '../core/volatile.ts';
export { type FoldedView, foldView } from '../formats/folded/fold-view.ts';
export { shortenToolIds, shortToolId } from '../formats/folded/short-tool-ids.ts';
export { type Folding, type UnfoldedView, unfoldView } from '../formats/folded/unfold-view.ts';
export {
  createKeeper,
  type Keeper,
  type Prepared,
  type PreparedStatus,
  type PrepareOptions,
} from './keeper.ts';
export type { KeeperOptions } from './keeper-options.ts';
export { sha256 } from './sha256.ts';
