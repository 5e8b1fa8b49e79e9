import { isUserText, type Message } from './message.ts';

/**
 * The latest index at or before `desired` that holds a user message without tool results; 0 when there is none.
 * At or beyond the end the answer is the length of the list, at or below zero it is 0.
 *
 * This is the rule of many agents, kept literally for those who rely on it. It finds no cut at all in a run of tool
 * rounds after one question; `legalCuts` does.
 */
export function safeSplitPoint(messages: readonly Message[], desired: number): number {
  if (desired <= 0) return 0;
  if (desired >= messages.length) return messages.length;
  for (let index = Math.floor(desired); index > 0; index--) {
    const message = messages[index];
    if (message !== undefined && isUserText(message)) return index;
  }
  return 0;
}
