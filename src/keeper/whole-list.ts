import { stepwiseProperties } from '../conversation/legality.ts';
import { hasToolCall, type Message } from '../conversation/message.ts';
import { ToolLinker } from '../conversation/tool-links.ts';

/** Whether every call in a list has its result there, and every result its call. */
export function isWhole(messages: readonly Message[]): boolean {
  const links = new WholeLinks();
  for (const [index, message] of messages.entries()) links.add(message, index);
  return links.areWhole();
}

/**
 * Whether a list may be cut behind a beginning that is whole, as far as the rest alone tells: where the rest is whole too, no
 * call reaches over the cut, no id of a call without an answer can stand on both sides of it, and what else binds messages is
 * found next to the cut or behind it. False where it takes a look at the whole list.
 */
export function isCutBehindWhole(messages: readonly Message[], cut: number): boolean {
  const before = messages[cut - 1];
  if (before !== undefined && hasToolCall(before)) return false;
  const links = new WholeLinks();
  const watchers = stepwiseProperties.map((property) => property.watch());
  // The records of one response may stand on both sides, and so may a thought and what it led to.
  for (let index = lastAnswerBefore(messages, cut); index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) continue;
    if (index >= cut) links.add(message, index);
    for (const bondAt of watchers) {
      const bond = bondAt(message, index);
      if (bond !== undefined && bond.start < cut && cut < bond.end) return false;
    }
  }
  return links.areWhole();
}

/** Where the assistant spoke last, from the first of its messages in a row on; or the beginning. */
function lastAnswerBefore(messages: readonly Message[], end: number): number {
  let index = end - 1;
  while (index > 0 && messages[index]?.role !== 'assistant') index--;
  while (index > 0 && messages[index - 1]?.role === 'assistant') index--;
  return Math.max(index, 0);
}

/** Links calls with results, and only wants to know whether any is left over. */
class WholeLinks {
  #isOdd = false;
  readonly #linker = new ToolLinker({
    pair: () => undefined,
    unanswered: () => {
      this.#isOdd = true;
    },
    orphan: () => {
      this.#isOdd = true;
    },
  });

  add(message: Message, index: number): void {
    this.#linker.add(message, index);
  }

  areWhole(): boolean {
    return !this.#isOdd && this.#linker.open().length === 0;
  }
}
