import type { Message } from '../conversation/message.ts';
import type { TokenEstimator } from '../tokens/token-estimator.ts';

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
