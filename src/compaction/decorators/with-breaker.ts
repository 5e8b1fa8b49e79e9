import {
  type AutoCompactState,
  afterRun,
  afterTurn,
  forgetFailures,
  initialAutoCompactState,
  pausedOutcome,
} from '../breaker.ts';
import { notCompacted, type Outcome, type Strategy } from '../plan/strategy.ts';
import { decorate, errorText } from './decorate.ts';

export interface BreakerOptions {
  /** What was remembered of the conversation, from a store. Default: nothing has happened yet. */
  readonly state?: AutoCompactState | undefined;
  /** Told about every other state, so that it can be stored. What it throws reaches whoever started the run. */
  readonly onChange?: ((state: AutoCompactState) => void) | undefined;
}

/** A strategy that remembers how its runs went. */
export interface BreakerStrategy extends Strategy {
  /** What to store with the conversation. */
  readonly state: AutoCompactState;
}

/**
 * Ends series of runs that fail or change too little: after them, runs are `skipped` with `paused` for some turns, then
 * one is tried. A manual run always runs, and what failed before it is forgotten. A run that was aborted says nothing
 * about the next one. Make one for each conversation.
 */
export function withBreaker(
  inner: Strategy,
  { state: stored, onChange }: BreakerOptions = {},
): BreakerStrategy {
  let state = stored ?? initialAutoCompactState;
  const change = (next: AutoCompactState): void => {
    if (next === state) return;
    state = next;
    onChange?.(next);
  };

  const strategy = decorate(inner, async (conversation, context) => {
    if (context.trigger === 'manual') change(forgetFailures(state));
    else if (state.pausedTurns > 0) {
      const outcome = pausedOutcome(inner.name, state);
      change(afterTurn(state));
      return outcome;
    }
    const judge = (outcome: Outcome): void => change(afterRun(state, outcome, context));
    let outcome: Outcome;
    try {
      outcome = await inner.compact(conversation, context);
    } catch (error) {
      judge(notCompacted('failed', 'threw', errorText(error)));
      throw error;
    }
    judge(outcome);
    return outcome;
  });
  return {
    ...strategy,
    get state() {
      return state;
    },
  };
}
