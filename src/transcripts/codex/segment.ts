import type { JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { Origin, RecordedCompaction, Segment } from '../transcript.ts';
import { itemMaker, opensUserTurn } from './items.ts';

/** A segment that still grows. */
export interface OpenSegment {
  readonly items: JsonObject[];
  readonly origins: Origin[];
  opening: RecordedCompaction | undefined;
  /** Indexes of the messages that opened a user turn. */
  readonly turnStarts: number[];
  /** Items before this index have their usage or will never have one. */
  usageSettledUntil: number;
}

/** A new segment; `opening` is the compaction it begins with. */
export function openSegment(opening: RecordedCompaction | undefined): OpenSegment {
  return { items: [], origins: [], opening, turnStarts: [], usageSettledUntil: opening?.carried ?? 0 };
}

/** Puts an item at the end of the segment. */
export function addItem(segment: OpenSegment, item: JsonObject, origin: Origin): void {
  if (opensUserTurn(item)) segment.turnStarts.push(segment.items.length);
  segment.items.push(item);
  segment.origins.push(origin);
}

/** Gives the usage to the last item of the response before it; does nothing when no response is waiting for one. */
export function addUsage(segment: OpenSegment, usage: Usage): void {
  const { items, origins } = segment;
  for (let index = items.length - 1; index >= segment.usageSettledUntil; index--) {
    const item = items[index];
    const origin = origins[index];
    if (item === undefined || origin === undefined || itemMaker(item) !== 'model') continue;
    origins[index] = { ...origin, usage };
    break;
  }
  segment.usageSettledUntil = items.length;
}

/** Whether nothing has been said in the segment since its compaction. */
export function isFresh({ items, opening }: OpenSegment): boolean {
  return opening !== undefined && items.length === opening.carried;
}

/**
 * Removes the last user turns, as many as there are: everything from the message on that opened the oldest of them.
 * Answers with the number of turns removed.
 */
export function rollBack(segment: OpenSegment, turns: number): number {
  const { turnStarts } = segment;
  const removed = turnStarts.splice(Math.max(0, turnStarts.length - turns));
  const cut = removed[0];
  if (cut === undefined) return 0;
  segment.items.length = cut;
  segment.origins.length = cut;
  segment.usageSettledUntil = Math.min(segment.usageSettledUntil, cut);
  const { opening } = segment;
  if (opening !== undefined) segment.opening = { ...opening, carried: Math.min(opening.carried, cut) };
  return removed.length;
}

/** The segment as it is; `instructions` go around its items where they are recorded. */
export function closeSegment(segment: OpenSegment, instructions: string | undefined): Segment {
  const { items, origins, opening } = segment;
  return { body: instructions === undefined ? items : { instructions, input: items }, origins, opening };
}
