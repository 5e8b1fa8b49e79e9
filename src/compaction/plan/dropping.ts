import { currentTurnStart, type Span } from '../../conversation/cuts.ts';
import type { Conversation } from '../../conversation/format.ts';
import { DROPPED_TEXT } from '../../conversation/summary-message.ts';
import type { Edit } from './edit.ts';
import { layOut, layoutEdits } from './layout.ts';
import { type PinOptions, spansOf } from './pins.ts';
import { surveyOf } from './survey.ts';
import { beginWithAnswer } from './tail.ts';

export interface DropOptions {
  /** Nothing behind this message leaves. The current turn never does. */
  readonly limit: number;
  /** Nothing in front of this message leaves. Default 0. */
  readonly keepBefore?: number | undefined;
  /** Whether enough has left with these stretches. Default: not before the limit. */
  readonly isEnough?: ((dropped: readonly Span[]) => boolean) | undefined;
}

/**
 * Edits that drop the oldest stretches that are not pinned, until enough has left or the limit is reached. What remains
 * is as legal as the list was.
 */
export function dropOldest(
  conversation: Conversation,
  pins: PinOptions,
  { limit, keepBefore = 0, isEnough = () => false }: DropOptions,
): readonly Edit[] {
  const { messages, format } = conversation;
  const last = Math.min(limit, currentTurnStart(messages));
  const spans = spansOf(messages, pins).map((span) =>
    span.start < keepBefore ? { ...span, isPinned: true } : span,
  );
  const dropped: Span[] = [];
  for (const span of spans) {
    if (span.isPinned) continue;
    if (span.end > last || isEnough(dropped)) break;
    dropped.push(span);
  }
  // The newest request stays in front of what answers it; further back it is quoted.
  const { lastAsked } = surveyOf(messages);
  if (dropped.at(-1)?.start === lastAsked) dropped.pop();
  const cut = beginWithAnswer(messages, dropped.at(-1)?.end ?? 0, format);
  const layout = layOut(conversation, { spans, cut });
  if (layout.leaving.length === 0) return [];
  return layoutEdits(layout, layout.needsMessage ? DROPPED_TEXT : undefined, { isSummary: false });
}
