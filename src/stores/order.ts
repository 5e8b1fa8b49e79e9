import { nameInColumn } from './record/name.ts';
import type { ArchivedSpan, ConversationKey, StoredConversation } from './store.ts';

/** The last used first; then by name. */
export function byLastUse(left: StoredConversation, right: StoredConversation): number {
  return right.usedAt - left.usedAt || byName(left, right);
}

/** By tenant and conversation, in the order of bytes that databases have. */
function byName(left: ConversationKey, right: ConversationKey): number {
  return compareNames(left.tenant, right.tenant) || compareNames(left.conversation, right.conversation);
}

/** By place in the original conversation. Sorting is stable: then the order in which they came. */
export function byPlace(
  left: Pick<ArchivedSpan, 'start' | 'end'>,
  right: Pick<ArchivedSpan, 'start' | 'end'>,
): number {
  return left.start - right.start || left.end - right.end;
}

function compareNames(left: string, right: string): number {
  return Buffer.compare(Buffer.from(nameInColumn(left)), Buffer.from(nameInColumn(right)));
}
