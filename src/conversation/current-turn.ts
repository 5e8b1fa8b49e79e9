import { legalCuts } from './legality.ts';
import type { Message } from './message.ts';

/**
 * Where the current turn begins: the newest message and everything the model has not answered yet, with the response that
 * waiting results belong to. Every compacted request ends with it as it was.
 */
export function currentTurnStart(messages: readonly Message[]): number {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  // A list that ends with an answer, as recordings and prefills do, goes on from that answer.
  const from = answered === messages.length - 1 ? answered : answered + 1;
  const cuts = legalCuts(messages).filter((cut) => cut <= Math.max(0, from));
  let start = cuts.pop() ?? 0;
  // The items of one response stand next to each other.
  while (messages[start]?.role === 'assistant' && messages[start - 1]?.role === 'assistant') {
    const before = cuts.pop();
    if (before === undefined) break;
    start = before;
  }
  return start;
}
