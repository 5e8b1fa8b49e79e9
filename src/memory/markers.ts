/** Finds the summary messages of roundfold in a list that a client keeps. */

import type { Message } from '../conversation/message.ts';
import { readMarkedSummary } from '../conversation/summary-message.ts';

/** Source of the markers that roundfold writes, unless it is told another one. */
export const MARKER_SOURCE = 'roundfold';

/** A summary of ours in a list that a client keeps. */
export interface FoundMarker {
  /** Where it stands in the list. */
  readonly index: number;
  /** How many messages of the original list it stands for. */
  readonly coveredUntil: number;
  readonly summary: string;
}

/**
 * The newest marker of this source in a list; undefined when there is none. A summary without a marker, one of another
 * source and one that was forged or damaged are ordinary messages.
 */
export function findMarker(view: readonly Message[], source = MARKER_SOURCE): FoundMarker | undefined {
  for (let index = view.length - 1; index >= 0; index--) {
    const message = view[index];
    const read = message === undefined ? undefined : readMarkedSummary(message);
    if (read?.marker?.source !== source) continue;
    return { index, coveredUntil: read.marker.coveredUntil, summary: read.summary };
  }
  return undefined;
}

/** Whether this message is a marker of this source. */
export function isMarker(message: Message, source = MARKER_SOURCE): boolean {
  return readMarkedSummary(message)?.marker?.source === source;
}

/**
 * How many messages of the original list stand before this place of a list in which a summary of ours may stand for some
 * of them.
 */
export function originalIndex(view: readonly Message[], index: number, source = MARKER_SOURCE): number {
  const marker = findMarker(view.slice(0, index), source);
  return marker === undefined ? index : marker.coveredUntil + index - marker.index - 1;
}
