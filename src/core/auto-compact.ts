import { shouldCompact } from './budget.ts';
import type { Outcome } from './strategy.ts';

/** Failures in a row after which automatic runs pause. */
export const MAX_CONSECUTIVE_FAILURES = 3;

/** Runs in a row that changed too little, after which automatic runs pause. */
export const MAX_USELESS_PASSES = 2;

/** A window that is full again within fewer turns has refilled rapidly. */
export const RAPID_REFILL_TURNS = 3;

/** Rapid refills in a row after which no model is asked for a while. */
export const MAX_RAPID_REFILLS = 3;

/** Why runs are paused when summaries of a model were used up as soon as they were there. */
export const RAPID_REFILL = 'rapid-refill';

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
  /** How soon the window was full again after a summary that was paid for; undefined when it took its time. */
  readonly refills?: Refills | undefined;
}

interface Refills {
  /** Turns since the newest paid summary. */
  readonly turns: number;
  /** Rapid refills in a row before it. */
  readonly inRow: number;
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
  const older = oneTurnOlder(state);
  return older.pausedTurns === 0 ? older : { ...older, pausedTurns: older.pausedTurns - 1 };
}

/**
 * The state after a run. Outcomes are judged, not attempts: a run that changes too little counts as well as one that
 * fails, and summaries of a model that are used up as soon as they are there. One that was paused gets a single try when
 * the pause is over, and pauses again at once when that fails too.
 */
export function afterOutcome(state: AutoCompactState, outcome: Outcome): AutoCompactState {
  const older = oneTurnOlder(state);
  switch (outcome.status) {
    case 'compacted':
      return afterCompaction(state, outcome.usage !== undefined);
    case 'skipped':
      return older;
    case 'failed':
      // The user stopped it: that says nothing about the next run.
      if (outcome.reason === ABORTED) return state;
      return pauseIf({ ...older, consecutiveFailures: state.consecutiveFailures + 1 }, outcome.reason);
    case 'insufficient':
      return pauseIf({ ...older, uselessPasses: state.uselessPasses + 1 }, outcome.reason);
  }
}

/** What needs no model may come as often as the window fills. */
function afterCompaction(state: AutoCompactState, isPaid: boolean): AutoCompactState {
  const next = { ...initialAutoCompactState, compactionCount: state.compactionCount + 1 };
  if (!isPaid) return { ...next, refills: oneTurnOlder(state).refills };
  const inRow = state.refills === undefined ? 0 : state.refills.inRow + 1;
  if (inRow < MAX_RAPID_REFILLS) return { ...next, refills: { turns: 0, inRow } };
  return { ...next, pausedTurns: COOL_DOWN_TURNS, reason: RAPID_REFILL };
}

/** Forgets a paid summary that has lasted long enough. */
function oneTurnOlder(state: AutoCompactState): AutoCompactState {
  if (state.refills === undefined) return state;
  const { turns, inRow } = state.refills;
  const isOver = turns + 1 >= RAPID_REFILL_TURNS;
  return { ...state, refills: isOver ? undefined : { turns: turns + 1, inRow } };
}

function pauseIf(state: AutoCompactState, reason: string): AutoCompactState {
  const isTooMuch =
    state.consecutiveFailures >= MAX_CONSECUTIVE_FAILURES || state.uselessPasses >= MAX_USELESS_PASSES;
  return isTooMuch ? { ...state, pausedTurns: COOL_DOWN_TURNS, reason } : state;
}
