import type { Edit } from './edit.ts';
import type { Conversation } from './format.ts';
import { type PinOptions, type Span, spansOf } from './pins.ts';

/** What stands in front when nothing of the user's is left to begin with. */
export const DROPPED_TEXT = '[earlier messages were removed to save space]';

/**
 * Edits that drop the oldest stretches that are not pinned, as long as `isEnough` says no of what was dropped so far, and
 * never behind `limit`. What remains is as legal as the list was.
 */
export function dropOldest(
  conversation: Conversation,
  pins: PinOptions,
  { limit, isEnough }: { readonly limit: number; readonly isEnough: (dropped: readonly Span[]) => boolean },
): readonly Edit[] {
  const dropped: Span[] = [];
  const kept: Span[] = [];
  for (const span of spansOf(conversation.messages, pins)) {
    if (span.isPinned || span.end > limit || isEnough(dropped)) kept.push(span);
    else dropped.push(span);
  }
  return toEdits(conversation, dropped, kept);
}

function toEdits(
  { messages, format }: Conversation,
  dropped: readonly Span[],
  kept: readonly Span[],
): readonly Edit[] {
  if (dropped.length === 0) return [];
  const edits: Edit[] = [];
  for (const { start, end } of dropped) {
    const last = edits.at(-1);
    if (last?.type === 'drop' && last.end === start) edits[edits.length - 1] = { ...last, end };
    else edits.push({ type: 'drop', start, end });
  }
  const first = kept[0] === undefined ? undefined : messages[kept[0].start];
  const needsUser = first === undefined || (format.userFirst && first.role === 'assistant');
  return needsUser
    ? [...edits, { type: 'insert', before: kept[0]?.start ?? messages.length, text: DROPPED_TEXT }]
    : edits;
}
