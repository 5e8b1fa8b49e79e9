import type { Format } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { summaryMessageText } from '../conversation/summary-message.ts';
import { MARKER_SOURCE } from '../memory/markers.ts';
import { previewTailStart, readView } from './progress.ts';

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
