import { alignToGroup } from '../conversation/atomic-groups.ts';
import type { Message } from '../conversation/message.ts';
import { findMarker, isMarker, MARKER_SOURCE } from '../memory/markers.ts';

/**
 * A list that a client keeps may hold a summary of ours in the place of what it stands for: head, marker, tail. Progress
 * is counted in the original list, never in the visible one. Lists with folded tool calls have other coordinates: unfold
 * them first. As long as they are folded there is no progress.
 */
export interface ViewState {
  /** Place of the marker; undefined when there is none. */
  readonly markerIndex: number | undefined;
  /** How many original messages the marker stands for; 0 without one. */
  readonly coveredUntil: number;
  /** The marker's summary. */
  readonly summary: string | undefined;
  /** Where in the visible list the messages begin that nothing covers. */
  readonly tailStart: number;
  /** Length of the original list. */
  readonly originalCount: number;
  /** Whether answers hold tool calls as markup. */
  readonly isFolded: boolean;
}

/** Reads head, marker and tail of a list. */
export function readView(view: readonly Message[], source = MARKER_SOURCE): ViewState {
  const marker = findMarker(view, source);
  const coveredUntil = marker?.coveredUntil ?? 0;
  const tailStart = marker === undefined ? 0 : marker.index + 1;
  return {
    markerIndex: marker?.index,
    coveredUntil,
    summary: marker?.summary,
    tailStart,
    originalCount: coveredUntil + view.length - tailStart,
    isFolded: view.some(holdsFoldedCalls),
  };
}

/** How a tool call begins that was folded into text. */
const FOLDED_CALL = '<details type="tool_calls"';

function holdsFoldedCalls({ role, blocks }: Message): boolean {
  if (role !== 'assistant') return false;
  return blocks.some((block) => block.type === 'text' && block.text.includes(FOLDED_CALL));
}

/** Length of the original list: what the marker stands for, and what is behind it. */
export function originalCount(view: readonly Message[], source = MARKER_SOURCE): number {
  return readView(view, source).originalCount;
}

export interface TargetOptions {
  /** How many of the newest messages stay. */
  readonly keepLast: number;
  /** How many messages at the head stay; see `protectedHeadEnd`. */
  readonly protectedHead: number;
  /** Default: `MARKER_SOURCE`. */
  readonly source?: string | undefined;
}

/**
 * How far a summary should reach, in original coordinates: to the last `keepLast` messages, moved back to the start of a
 * group, never before the protected head and never below what is covered. There is nothing to do when this is not more
 * than `progressStart`.
 */
export function targetProgress(view: readonly Message[], options: TargetOptions): number {
  const { keepLast, protectedHead, source } = options;
  const state = readView(view, source);
  if (state.isFolded) return progressStart(state, protectedHead);
  const { coveredUntil, tailStart } = state;
  const wanted = Math.max(coveredUntil, state.originalCount - Math.max(0, keepLast));
  const prefix = state.markerIndex === undefined ? protectedHead : tailStart;
  return coveredUntil + alignToGroup(view, tailStart + wanted - coveredUntil, prefix) - tailStart;
}

/** Where the next summary begins, in original coordinates: behind what the marker covers, else behind the head. */
export function progressStart(state: ViewState, protectedHead: number): number {
  return state.markerIndex === undefined ? protectedHead : state.coveredUntil;
}

/**
 * What a summary really reaches: where its messages begin and how many there are. A marker among them is no message of
 * the original list.
 */
export function savedProgress(start: number, summarised: readonly Message[], source = MARKER_SOURCE): number {
  return start + summarised.filter((message) => !isMarker(message, source)).length;
}

/** Whether progress is worth saving: only what reaches further than what is stored. */
export function isProgress(saved: number, stored: number | undefined): boolean {
  return saved > (stored ?? 0);
}

/**
 * Where in the visible list the tail of the next view begins, once progress was saved up to `saved`; undefined when that
 * is a place this list does not have.
 */
export function previewTailStart(
  view: readonly Message[],
  saved: number,
  source = MARKER_SOURCE,
): number | undefined {
  const { coveredUntil, tailStart, originalCount: count } = readView(view, source);
  if (!Number.isSafeInteger(saved) || saved < coveredUntil || saved > count) return undefined;
  return tailStart + saved - coveredUntil;
}
