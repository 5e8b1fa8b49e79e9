/** Arithmetic for clients that keep a summary of ours in their own list: what is covered, what comes next. */

import { alignToGroup, atomicGroups } from '../conversation/cuts.ts';
import type { Format } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
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

/** What a summarizer is to be given. */
export interface ProgressInput {
  /** Where the messages begin, in original coordinates. */
  readonly start: number;
  /** All messages up to the new boundary, those that are pinned included. */
  readonly covered: readonly Message[];
  /** Those of them that are summarised: system messages stay in the view as they are. */
  readonly messages: readonly Message[];
  /** What stands for everything before `start`. Never a part of `messages` as well. */
  readonly previousSummary: string | undefined;
}

export interface ProgressInputOptions {
  /** How far the summary should reach, in original coordinates; see `targetProgress`. */
  readonly target: number;
  readonly protectedHead: number;
  /** The newest stored summary, for a client that sends the whole original list. */
  readonly stored?: { readonly coveredUntil: number; readonly summary: string } | undefined;
  /** Whether the whole prompt made of this fits. What fits still fits with fewer messages. */
  fits(input: ProgressInput): boolean;
  /** Default: `MARKER_SOURCE`. */
  readonly source?: string | undefined;
}

/**
 * - `ready`: to be summarised; `saved` is the boundary that may be stored once there is a summary
 * - `nothing-new`: nothing between the old boundary and the target
 * - `folded`: the list has folded tool calls, and so other coordinates
 * - `too-large`: not even the oldest group fits. `previous-summary`: it would, were that shorter
 */
export type ProgressInputResult =
  | { readonly status: 'ready'; readonly input: ProgressInput; readonly saved: number }
  | { readonly status: 'nothing-new' | 'folded' }
  | { readonly status: 'too-large'; readonly cause: 'group' | 'previous-summary' };

/**
 * Chooses what to summarise next. Where the whole stretch up to the target does not fit, the newest groups stay out and
 * the boundary moves back with them. Never the oldest, and never the summary of what came before: the boundary would
 * cover messages that no summarizer has read.
 */
export function progressInput(view: readonly Message[], options: ProgressInputOptions): ProgressInputResult {
  const { source = MARKER_SOURCE, fits } = options;
  const state = readView(view, source);
  if (state.isFolded) return { status: 'folded' };
  const { start, previousSummary } = beginningOf(state, options);
  const visible = (original: number): number => state.tailStart + original - state.coveredUntil;
  const from = visible(start);
  // A target in the middle of a group does not part it.
  const ends = atomicGroups(view)
    .map((group) => group.end)
    .filter((end) => end > from && end <= visible(options.target));
  const inputUpTo = (count: number): ProgressInput => {
    const covered = view.slice(from, ends[count - 1] ?? from);
    const messages = covered.filter(({ role }) => role !== 'system');
    return { start, covered, messages, previousSummary };
  };
  if (inputUpTo(ends.length).messages.length === 0) return { status: 'nothing-new' };
  const count = largestThat(ends.length, (groups) => fits(inputUpTo(groups)));
  const input = inputUpTo(count);
  if (input.messages.length === 0) {
    const firstSaid = view.findIndex(({ role }, index) => index >= from && role !== 'system');
    const first = inputUpTo(ends.findIndex((end) => end > firstSaid) + 1);
    const fitsAlone = previousSummary !== undefined && fits({ ...first, previousSummary: undefined });
    return { status: 'too-large', cause: fitsAlone ? 'previous-summary' : 'group' };
  }
  return { status: 'ready', input, saved: savedProgress(start, input.covered, source) };
}

/** Behind the summary that reaches furthest: the marker in the list, or the stored one. It is passed on once. */
function beginningOf(
  state: ViewState,
  { stored, protectedHead }: ProgressInputOptions,
): Pick<ProgressInput, 'start' | 'previousSummary'> {
  const start = progressStart(state, protectedHead);
  const isKnown = stored !== undefined && stored.coveredUntil <= state.originalCount;
  if (isKnown && isProgress(stored.coveredUntil, start))
    return { start: stored.coveredUntil, previousSummary: stored.summary };
  return { start, previousSummary: state.summary };
}

/** The largest count for which the test holds, by halves; 0 when it holds for none. */
function largestThat(most: number, holds: (count: number) => boolean): number {
  if (holds(most)) return most;
  let known = 0;
  let failed = most;
  while (failed - known > 1) {
    const middle = (known + failed) >> 1;
    if (holds(middle)) known = middle;
    else failed = middle;
  }
  return known;
}

export interface NextViewOptions {
  readonly format: Format;
  /** What stands for the messages up to `saved`. */
  readonly summary: string;
  /** The new boundary, in original coordinates. */
  readonly saved: number;
  readonly protectedHead: number;
  /** Default: `MARKER_SOURCE`. */
  readonly source?: string | undefined;
}

/**
 * The list after a summary: head, system messages of the covered stretch, marker, tail. What is pinned goes in front of
 * the marker, because everything behind a marker counts as not covered. Undefined when the list does not have the
 * boundary.
 */
export function nextView(view: readonly Message[], options: NextViewOptions): readonly Message[] | undefined {
  const { format, summary, saved, protectedHead, source = MARKER_SOURCE } = options;
  const { markerIndex, tailStart } = readView(view, source);
  const tail = previewTailStart(view, saved, source);
  const from = markerIndex === undefined ? protectedHead : tailStart;
  if (tail === undefined || tail < from) return undefined;
  const pinned = view.slice(from, tail).filter(({ role }) => role === 'system');
  const text = summaryMessageText(summary, { coveredUntil: saved, source });
  return [
    ...view.slice(0, markerIndex ?? protectedHead),
    ...pinned,
    ...format.userMessages([format.textBlock(text)]),
    ...view.slice(tail),
  ];
}
