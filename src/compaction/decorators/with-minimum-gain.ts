import { RoundfoldError } from '../../conversation/errors.ts';
import { changeOf, notCompacted, type Strategy } from '../plan/strategy.ts';
import { decorate } from './decorate.ts';

export interface MinimumGainOptions {
  /** Share of the request that must be saved, from 0 to 1. Default 0.2. */
  readonly share?: number | undefined;
}

/**
 * Discards a compaction that saves too little: `insufficient` with `gain-too-small`. One that reaches the target is
 * enough whatever it saves, but none that makes the request larger. Does nothing where nothing was compacted.
 * @throws RoundfoldError `usage` for a share that is none
 */
export function withMinimumGain(inner: Strategy, { share = 0.2 }: MinimumGainOptions = {}): Strategy {
  if (!(share >= 0 && share <= 1)) {
    throw new RoundfoldError('usage', `the minimum gain is a share from 0 to 1, not ${share}`);
  }
  return decorate(inner, async (conversation, context) => {
    const outcome = await inner.compact(conversation, context);
    const change = changeOf(outcome);
    if (change === undefined) return outcome;
    const { tokensBefore, tokensAfter } = change.receipt;
    const isOnTarget = tokensAfter <= context.targetTokens && tokensAfter <= tokensBefore;
    if (isOnTarget || tokensAfter <= tokensBefore * (1 - share)) return outcome;
    const message = `${inner.name}: ${tokensAfter} of ${tokensBefore} tokens would be left, which saves less than ${Math.round(share * 100)} %`;
    return notCompacted('insufficient', 'gain-too-small', message, outcome.usage);
  });
}
