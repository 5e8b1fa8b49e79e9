import { RoundfoldError } from '../../conversation/errors.ts';
import { decorate, type NotCompacted, notCompacted, type Strategy } from '../plan/strategy.ts';
import { abortOf } from '../watch.ts';

export interface TimeoutOptions {
  readonly timeoutMs: number;
  /** Resolves after so many milliseconds, unless the signal says that nobody waits any more. Default: a timer. */
  readonly after?: ((timeoutMs: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** Timers with a longer delay fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Ends a run that takes too long: `failed` with `timed-out`. The run is told through its signal, and is not waited for
 * when it does not listen. A run that the caller aborts ends in the same way, `failed` with `aborted`.
 * @throws RoundfoldError `usage` for a time that no timer can wait
 */
export function withTimeout(inner: Strategy, { timeoutMs, after = afterTimer }: TimeoutOptions): Strategy {
  if (!(timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS)) {
    throw new RoundfoldError(
      'usage',
      `the timeout is a number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}, not ${timeoutMs}`,
    );
  }
  return decorate(inner, async (conversation, context) => {
    const aborted = notCompacted('failed', 'aborted', `${inner.name}: the run was aborted`);
    if (context.signal?.aborted === true) return aborted;
    const run = new AbortController();
    const settled = new AbortController();
    // The ends come before the run in the race: a run that hears of its end is too late to answer for it.
    const ends: Promise<NotCompacted>[] = [
      after(timeoutMs, settled.signal).then(() => {
        const message = `${inner.name}: not done after ${timeoutMs} ms; allow more time or use a faster model`;
        return notCompacted('failed', 'timed-out', message);
      }),
    ];
    if (context.signal !== undefined) ends.push(abortOf(context.signal, settled.signal).then(() => aborted));
    try {
      return await Promise.race([...ends, inner.compact(conversation, { ...context, signal: run.signal })]);
    } finally {
      settled.abort();
      run.abort();
    }
  });
}

/** A cleared timer never resolves: nobody waits for it then. */
function afterTimer(timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}
