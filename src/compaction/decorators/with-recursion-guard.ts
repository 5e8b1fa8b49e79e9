import type { Conversation } from '../../conversation/format.ts';
import { decorate, notCompacted, type Strategy } from '../plan/strategy.ts';

/**
 * Lets only one run at a time work on a conversation. One that is started meanwhile, from inside a summarizer or a hook,
 * is `skipped` with `nested`; other conversations are none of its business. A conversation is the same when it was read
 * from the same value, or when the messages of one are the beginning of the other's.
 */
export function withRecursionGuard(inner: Strategy): Strategy {
  const running = new Set<Conversation>();
  return decorate(inner, async (conversation, context) => {
    for (const other of running) {
      if (!isSameConversation(conversation, other)) continue;
      const message = `${inner.name}: this conversation is being compacted already`;
      return notCompacted('skipped', 'nested', message);
    }
    // Two runs may be given one object only when the first is over, so an object stands for one run.
    running.add(conversation);
    try {
      return await inner.compact(conversation, context);
    } finally {
      running.delete(conversation);
    }
  });
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
