/** Rules that every store keeps in the same way: who holds a lease, when a use is written down, what leaves, in which order. */
import { RoundfoldError } from '../conversation/errors.ts';
import { nameInColumn } from './records.ts';
import type { ArchivedSpan, Retention, StoredConversation } from './store.ts';

/** A conversation's last use is written down again only after this time, so that most reads write nothing. */
const TOUCH_AFTER_MS = 5 * 60_000;

/** When a lease was taken or renewed, and until when it holds. */
export interface LeaseTime {
  readonly takenAt: number;
  readonly expiresAt: number;
}

/**
 * Whether a lease holds now. One that seems to begin further in the future than it lasts comes from a clock that was set
 * back since, and must not block for years.
 */
export function isHeld({ takenAt, expiresAt }: LeaseTime, now: number): boolean {
  return now < expiresAt && now >= takenAt - (expiresAt - takenAt);
}

/** @throws `usage` when it is no duration */
export function leaseDuration(milliseconds: number): number {
  if (Number.isFinite(milliseconds) && milliseconds > 0) return Math.ceil(milliseconds);
  throw new RoundfoldError('usage', 'a lease lasts a positive number of milliseconds');
}

/** Whether the last use of a conversation should be written down again. */
export function isStale(usedAt: number, now: number): boolean {
  return usedAt < now - TOUCH_AFTER_MS;
}

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

/** The last used first; then by tenant and conversation, in the order of their bytes. */
export function byLastUse(left: StoredConversation, right: StoredConversation): number {
  return (
    right.usedAt - left.usedAt ||
    compareNames(left.tenant, right.tenant) ||
    compareNames(left.conversation, right.conversation)
  );
}

function compareNames(left: string, right: string): number {
  return Buffer.compare(Buffer.from(nameInColumn(left)), Buffer.from(nameInColumn(right)));
}

/** By place in the original conversation. Sorting is stable: then the order in which they came. */
export function byPlace(
  left: Pick<ArchivedSpan, 'start' | 'end'>,
  right: Pick<ArchivedSpan, 'start' | 'end'>,
): number {
  return left.start - right.start || left.end - right.end;
}
