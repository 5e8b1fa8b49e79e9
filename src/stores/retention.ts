import type { Retention, StoredConversation } from './store.ts';

/**
 * Which conversations leave, given the last used first: those unused for too long, and the least recently used ones until
 * the rest is small enough.
 */
export function conversationsToCollect<Entry extends Pick<StoredConversation, 'usedAt' | 'bytes'>>(
  conversations: readonly Entry[],
  { unusedMilliseconds, maximumBytes }: Retention,
  now: number,
): readonly Entry[] {
  const oldest = unusedMilliseconds === undefined ? Number.NEGATIVE_INFINITY : now - unusedMilliseconds;
  const limit = maximumBytes ?? Number.POSITIVE_INFINITY;
  let total = 0;
  let isFull = false;
  return conversations.filter(({ usedAt, bytes }) => {
    total += bytes;
    isFull ||= total > limit;
    return isFull || usedAt < oldest;
  });
}
