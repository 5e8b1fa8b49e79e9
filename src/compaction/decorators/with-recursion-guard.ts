import type { Conversation } from '../../conversation/format.ts';
import { type NotCompacted, notCompacted, type Strategy } from '../plan/strategy.ts';
import { decorate } from './decorate.ts';

/**
 * Lets only one run at a time work on a conversation. One that is started meanwhile, from inside a summarizer or a hook,
 * is `skipped` with `nested`; other conversations are none of its business. A conversation is the same when it was read
 * from the same value, or when the messages of one are the beginning of the other's. A compactor has such a guard already.
 */
export function withRecursionGuard(inner: Strategy): Strategy {
  const enter = recursionGuard(isSameConversation);
  return decorate(inner, async (conversation, context) => {
    const leave = enter(conversation);
    if (leave === undefined) return nested(inner.name);
    try {
      return await inner.compact(conversation, context);
    } finally {
      leave();
    }
  });
}

/** Lets a run begin, and gives what ends it; undefined while another run works on the same conversation. */
export function recursionGuard(
  isSame: (left: Conversation, right: Conversation) => boolean,
): (conversation: Conversation) => (() => void) | undefined {
  const running = new Set<Conversation>();
  return (conversation) => {
    for (const other of running) if (isSame(conversation, other)) return undefined;
    running.add(conversation);
    return () => running.delete(conversation);
  };
}

/** The outcome of a run that was started from inside another one. */
export function nested(name: string): NotCompacted {
  return notCompacted('skipped', 'nested', `${name}: this conversation is being compacted already`);
}

function isSameConversation(left: Conversation, right: Conversation): boolean {
  if (left.frame.body === right.frame.body) return true;
  const isLeftShorter = left.messages.length <= right.messages.length;
  const [shorter, longer] = isLeftShorter ? [left, right] : [right, left];
  return (
    shorter.messages.length > 0 &&
    shorter.messages.every(({ raw }, index) => raw === longer.messages[index]?.raw)
  );
}
