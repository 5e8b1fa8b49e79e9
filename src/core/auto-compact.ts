import { shouldCompact } from './budget.ts';
import type { Outcome } from './strategy.ts';

/** Failures in a row after which automatic runs pause. */
export const MAX_CONSECUTIVE_FAILURES = 3;

/** Runs in a row that changed too little, after which automatic runs pause. */
export const MAX_USELESS_PASSES = 2;

const ABORTED = 'summary-aborted';

/** Turns that a pause lasts before one run is tried again. */
export const COOL_DOWN_TURNS = 10;

/** What has to be remembered of a conversation between turns, so that failing runs end. Plain data: store it with it. */
export interface AutoCompactState {
  readonly version: 1;
  readonly compactionCount: number;
  readonly consecutiveFailures: number;
  readonly uselessPasses: number;
  /** Turns until automatic runs go on; 0 when they are not paused. */
  readonly pausedTurns: number;
  /** Why they are paused. */
  readonly reason: string | undefined;
}

/** The state of a conversation that was never compacted. */
export const initialAutoCompactState: AutoCompactState = {
  version: 1,
  compactionCount: 0,
  consecutiveFailures: 0,
  uselessPasses: 0,
  pausedTurns: 0,
  reason: undefined,
};

/** Whether an automatic run is due: the window is full enough and runs are not paused. */
export function shouldAutoCompact(tokens: number, windowTokens: number, state: AutoCompactState): boolean {
  return state.pausedTurns === 0 && shouldCompact(tokens, windowTokens);
}

/** The state after a turn in which nothing was tried. */
export function afterTurn(state: AutoCompactState): AutoCompactState {
  return state.pausedTurns === 0 ? state : { ...state, pausedTurns: state.pausedTurns - 1 };
}

/**
 * The state after a run. Outcomes are judged, not attempts: a run that changes too little counts as well as one that
 * fails. One that was paused gets a single try when the pause is over, and pauses again at once when that fails too.
 */
export function afterOutcome(state: AutoCompactState, outcome: Outcome): AutoCompactState {
  switch (outcome.status) {
    case 'compacted':
      return { ...initialAutoCompactState, compactionCount: state.compactionCount + 1 };
    case 'skipped':
      return state;
    case 'failed':
      // The user stopped it: that says nothing about the next run.
      if (outcome.reason === ABORTED) return state;
      return pauseIf({ ...state, consecutiveFailures: state.consecutiveFailures + 1 }, outcome.reason);
    case 'insufficient':
      return pauseIf({ ...state, uselessPasses: state.uselessPasses + 1 }, outcome.reason);
  }
}

function pauseIf(state: AutoCompactState, reason: string): AutoCompactState {
  const isTooMuch =
    state.consecutiveFailures >= MAX_CONSECUTIVE_FAILURES || state.uselessPasses >= MAX_USELESS_PASSES;
  return isTooMuch ? { ...state, pausedTurns: COOL_DOWN_TURNS, reason } : state;
}
