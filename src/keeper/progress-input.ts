import { atomicGroups } from '../conversation/atomic-groups.ts';
import type { Message } from '../conversation/message.ts';
import { MARKER_SOURCE } from '../memory/markers.ts';
import { isProgress, progressStart, readView, savedProgress, type ViewState } from './progress.ts';

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
 * speak for messages that nobody read.
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
