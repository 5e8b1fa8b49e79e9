import { legalCuts } from './legality.ts';
import type { Message } from './message.ts';
import { groupRounds } from './rounds.ts';
import type { TokenEstimator } from './token-estimator.ts';

export interface TailOptions {
  /** So many tokens of the newest rounds stay, as far as whole rounds allow. */
  readonly keepTokens: number;
  /** So many of the newest rounds stay in any case. */
  readonly keepRounds: number;
}

/** Where the kept tail begins: at a legal cut, before the question that its first round answers. */
export function tailStart(
  messages: readonly Message[],
  estimator: TokenEstimator,
  { keepTokens, keepRounds }: TailOptions,
): number {
  const rounds = groupRounds(messages, { userTextJoins: 'next' });
  let start = messages.length;
  let tokens = 0;
  for (let index = rounds.length - 1; index >= 0; index--) {
    const round = rounds[index];
    if (round === undefined) break;
    for (let message = round.start; message < round.end; message++) {
      const found = messages[message];
      if (found !== undefined) tokens += estimator.countMessage(found);
    }
    const isKept = rounds.length - index <= keepRounds || tokens <= keepTokens;
    if (!isKept) break;
    start = round.start;
  }
  return legalCuts(messages).findLast((cut) => cut <= start) ?? 0;
}
