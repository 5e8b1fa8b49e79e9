import { writeConversation } from '../../conversation/format.ts';
import { changeOf, notCompacted, type Outcome, type Strategy } from '../plan/strategy.ts';
import { decorate, errorText } from './decorate.ts';

/**
 * Checks what goes out. `check` counts the errors of a request body or list; one that has more of them than what came in
 * is discarded: `failed` with `illegal-output`. A check that throws has found nothing in order: `failed` with
 * `check-failed`. Does nothing where nothing was compacted.
 */
export function withValidation(inner: Strategy, check: (value: unknown) => number): Strategy {
  return decorate(inner, async (conversation, context) => {
    const outcome = await inner.compact(conversation, context);
    const change = changeOf(outcome);
    if (change === undefined) return outcome;
    const discard = (reason: string, message: string): Outcome =>
      notCompacted('failed', reason, `${inner.name}: ${message}`, outcome.usage);
    try {
      const after = check(writeConversation(change.conversation));
      if (after === 0) return outcome;
      const before = check(writeConversation(conversation));
      // Written so that a count that is no number is no permission either.
      if (after <= before) return outcome;
      return discard('illegal-output', `${after} errors in the result, ${before} before; it was discarded`);
    } catch (error) {
      return discard('check-failed', `the result could not be checked: ${errorText(error)}`);
    }
  });
}
