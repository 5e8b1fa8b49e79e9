/** How much of the newest part of a conversation stays. */

import { currentTurnStart, legalCuts } from '../../conversation/cuts.ts';
import type { Format } from '../../conversation/format.ts';
import { isUserText, type Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';

export interface TailOptions {
  /** So many tokens of the newest rounds stay, as far as whole rounds allow. */
  readonly keepTokens: number;
  /** So many of the newest rounds, and of the newest messages, stay as well, as far as they take no more than `mostTokens`. */
  readonly keepRounds: number;
  readonly keepMessages?: number | undefined;
  /** Default: whatever they take. */
  readonly mostTokens?: number | undefined;
}

/**
 * Where the kept tail begins: at a legal cut, before the question that its first round answers. The current turn is
 * always in it.
 */
export function tailStart(
  { messages, format }: { readonly messages: readonly Message[]; readonly format: Format },
  estimator: TokenEstimator,
  { keepTokens, keepRounds, keepMessages = 0, mostTokens = Number.POSITIVE_INFINITY }: TailOptions,
): number {
  const current = currentTurnStart(messages);
  const rounds = groupRounds(messages, { userTextJoins: 'next' });
  let start = messages.length;
  let counted = messages.length;
  let tokens = 0;
  for (let index = rounds.length - 1; index >= 0; index--) {
    const round = rounds[index];
    if (round === undefined) break;
    for (; counted > round.start; counted--) {
      const message = messages[counted - 1];
      if (message !== undefined) tokens += estimator.countMessage(message);
    }
    const isWanted = rounds.length - index <= keepRounds || messages.length - start < keepMessages;
    if (round.start < current && tokens > keepTokens && !(isWanted && tokens <= mostTokens)) break;
    start = round.start;
  }
  const cut = legalCuts(messages).findLast((each) => each <= Math.min(start, current)) ?? 0;
  return beginWithAnswer(messages, cut, format);
}

/**
 * In a format whose servers want the two sides to take turns, a message of ours stands in front of an answer. The same
 * where system messages may only stand before one.
 */
export function beginWithAnswer(messages: readonly Message[], cut: number, format: Format): number {
  const first = messages[cut];
  const isApart = format.alternates && first !== undefined && isUserText(first);
  if (!isApart) return cut;
  const answer = legalCuts(messages).findLast((each) => each < cut && messages[each]?.role === 'assistant');
  // Nothing but answers can be between it and the cut, or it would not help.
  const isNext = answer !== undefined && messages.slice(answer, cut).every((message) => !isUserText(message));
  return isNext ? answer : cut;
}

/**
 * Where the longest tail begins that has no more than so many tokens: the length of the list when not even the last
 * message fits, 0 when all of it does. Counts messages and nothing else, so that the index may stand between a call and
 * its result: take the first of `legalCuts` from there on before cutting.
 */
export function messagesToKeepIndex(
  messages: readonly Message[],
  estimator: TokenEstimator,
  budgetTokens: number,
): number {
  let tokens = 0;
  const exceeding = messages.findLastIndex((message) => {
    tokens += estimator.countMessage(message);
    return tokens > budgetTokens;
  });
  return exceeding + 1;
}
