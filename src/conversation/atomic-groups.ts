import { legalCuts } from './legality.ts';
import { hasToolCall, hasToolResult, type Message } from './message.ts';

/** A stretch of messages that can only stay or go as a whole. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly isPinned: boolean;
}

/** Messages that only stay or go together. */
export interface AtomicGroup {
  readonly start: number;
  readonly end: number;
}

/**
 * The list as groups, in order, nothing left out. A message with calls opens a group, its results join, and the answer
 * directly behind them closes it; everything else stands alone. Where that would part what has to stay together (a
 * question between a call and its result), the groups are joined: every border is a legal cut.
 */
export function atomicGroups(messages: readonly Message[]): readonly AtomicGroup[] {
  const legal = new Set(legalCuts(messages));
  const starts = literalStarts(messages).filter((start) => legal.has(start));
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? messages.length }));
}

function literalStarts(messages: readonly Message[]): readonly number[] {
  const starts: number[] = [];
  let state: 'none' | 'called' | 'answered' = 'none';
  for (const [index, message] of messages.entries()) {
    if (hasToolCall(message)) {
      starts.push(index);
      state = 'called';
    } else if (hasToolResult(message)) {
      if (state === 'none') starts.push(index);
      else state = 'answered';
    } else {
      const closes = state === 'answered' && message.role === 'assistant';
      if (!closes) starts.push(index);
      state = 'none';
    }
  }
  return starts;
}

/**
 * The index moved back to the start of the group that it falls into, but not before `protectedHead`. The length of the
 * list stays where it is.
 */
export function alignToGroup(messages: readonly Message[], index: number, protectedHead = 0): number {
  if (index >= messages.length) return messages.length;
  const group = atomicGroups(messages).findLast(({ start }) => start <= index);
  return Math.max(protectedHead, group?.start ?? 0);
}

/**
 * How many messages at the head are never summarised: the first `keepFirst`, and the system messages that open the list.
 * A group that begins in the head ends in it. System messages further on are pinned one by one and protect nothing else.
 */
export function protectedHeadEnd(messages: readonly Message[], keepFirst: number): number {
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const leading = firstOther === -1 ? messages.length : firstOther;
  const wanted = Math.min(Math.max(keepFirst, leading, 0), messages.length);
  return atomicGroups(messages).find(({ start, end }) => start < wanted && wanted < end)?.end ?? wanted;
}
