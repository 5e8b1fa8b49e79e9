import { RoundfoldError } from '../../conversation/errors.ts';
import { notCompacted, type Strategy } from '../plan/strategy.ts';
import { LONGEST_TIMEOUT_MS, type RunLimits, runWithin } from '../watch.ts';
import { decorate } from './decorate.ts';

export interface TimeoutOptions extends Pick<RunLimits, 'after'> {
  readonly timeoutMs: number;
}

/**
 * Ends a run that takes too long: `failed` with `timed-out`. The run is told through its signal, and is not waited for
 * when it does not listen. A run that the caller aborts ends in the same way, `failed` with `aborted`.
 * @throws RoundfoldError `usage` for a time that no timer can wait
 */
export function withTimeout(inner: Strategy, { timeoutMs, after }: TimeoutOptions): Strategy {
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS)) {
    throw new RoundfoldError(
      'usage',
      `the timeout is a number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}, not ${timeoutMs}`,
    );
  }
  return decorate(inner, async (conversation, context) => {
    const outcome = await runWithin({ signal: context.signal, timeoutMs, after }, (signal) =>
      inner.compact(conversation, { ...context, signal }),
    );
    if (outcome === 'aborted') return notCompacted('failed', 'aborted', `${inner.name}: the run was aborted`);
    if (outcome !== 'timed-out') return outcome;
    const message = `${inner.name}: not done after ${timeoutMs} ms; allow more time or use a faster model`;
    return notCompacted('failed', 'timed-out', message);
  });
}
