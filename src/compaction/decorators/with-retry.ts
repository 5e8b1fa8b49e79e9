import { RoundfoldError } from '../../conversation/errors.ts';
import { addUsage, type Usage } from '../../conversation/message.ts';
import type { NotCompacted, Outcome, Strategy } from '../plan/strategy.ts';
import { runWithin } from '../watch.ts';
import { decorate } from './decorate.ts';

export interface RetryOptions {
  /** Runs in all, the first one included. Default 2. */
  readonly attempts?: number | undefined;
  /** Whether a failure may pass by itself. Default: the provider could not be reached, or it took too long. */
  readonly isRetryable?: ((failure: NotCompacted) => boolean) | undefined;
  /** Called before each further run with the number of runs so far. Default: no wait. */
  readonly wait?: ((attempts: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

const MAY_PASS = new Set(['upstream', 'summary-upstream', 'timed-out']);

/** The same request would get the same answer, or no answer is wanted any more. */
const NEVER_PASSES = new Set([
  'summary-refused',
  'summary-input-too-long',
  'illegal-output',
  'aborted',
  'summary-aborted',
]);

/**
 * Runs again after a failure that may pass. Never after a refusal, illegal output or an abort, nor after a summary whose
 * input could not be made short enough, whatever `isRetryable` says. The usage of all runs is added up.
 *
 * Only an outcome that says `failed` is run again. A run that got over the failure of a model, with a shorter input or with
 * a summary that needs none, is no failure, so that requests do not multiply.
 * @throws RoundfoldError `usage` for a number of attempts that is no whole number from 1 on
 */
export function withRetry(
  inner: Strategy,
  { attempts = 2, isRetryable = ({ reason }) => MAY_PASS.has(reason), wait }: RetryOptions = {},
): Strategy {
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new RoundfoldError('usage', `attempts is a whole number from 1 on, not ${attempts}`);
  }
  const mayPass = (outcome: Outcome): boolean =>
    outcome.status === 'failed' && !NEVER_PASSES.has(outcome.reason) && isRetryable(outcome);

  return decorate(inner, async (conversation, context) => {
    const { signal } = context;
    let outcome = await inner.compact(conversation, context);
    for (let made = 1; made < attempts && mayPass(outcome); made++) {
      if (!(await isStillWanted(signal, () => wait?.(made, signal)))) break;
      const spent: Usage | undefined = outcome.usage;
      const next = await inner.compact(conversation, context);
      outcome = { ...next, usage: addUsage(spent, next.usage) };
    }
    return outcome;
  });
}

/** Waits, and tells whether the run was aborted meanwhile. A wait that does not listen to the signal is left behind. */
async function isStillWanted(
  signal: AbortSignal | undefined,
  wait: () => Promise<unknown> | undefined,
): Promise<boolean> {
  return (await runWithin({ signal }, async () => void (await wait()))) !== 'aborted';
}
