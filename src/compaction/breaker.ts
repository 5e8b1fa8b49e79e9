/** The circuit breaker: counts failing and useless runs, and pauses the summarizer or automatic runs. */

import { shouldCompact, type ThresholdOptions } from '../tokens/thresholds.ts';
import { changeOf, type NotCompacted, notCompacted, type Outcome } from './plan/strategy.ts';

/** Failures in a row after which what fails pauses: the summarizer, or a strategy of your own. */
export const MAX_CONSECUTIVE_FAILURES = 3;

/** Runs in a row that changed nothing, after which automatic runs pause. */
export const MAX_USELESS_PASSES = 2;

/** A window that is full again within fewer turns has refilled rapidly. */
export const RAPID_REFILL_TURNS = 3;

/** Rapid refills in a row after which no model is asked for a while. */
export const MAX_RAPID_REFILLS = 3;

/** Why no model is asked when its summaries were used up as soon as they were there. */
export const RAPID_REFILL = 'rapid-refill';

const ABORTED: ReadonlySet<string> = new Set(['aborted', 'summary-aborted']);

/** Turns that a pause lasts before one try. */
export const COOL_DOWN_TURNS = 10;

/** What has to be remembered of a conversation between turns, so that failing runs end. Plain data: store it with it. */
export interface AutoCompactState {
  readonly version: 1;
  readonly compactionCount: number;
  /** Runs in a row that failed although they needed no summarizer, or had one of our own. */
  readonly consecutiveFailures: number;
  readonly uselessPasses: number;
  /** Turns until automatic runs go on; 0 when they are not paused. */
  readonly pausedTurns: number;
  /** Why they are paused. */
  readonly reason: string | undefined;
  /** How the configured summarizer is doing; undefined when nothing is the matter with it. */
  readonly summarizer?: SummarizerState | undefined;
  /** How soon the window was full again after a summary that was paid for; undefined when it took its time. */
  readonly refills?: Refills | undefined;
}

/** Failures of a summarizer pause the summarizer and nothing else: our own writes the summaries meanwhile. */
export interface SummarizerState {
  readonly failures: number;
  /** Turns until it is asked again. */
  readonly pausedTurns: number;
  readonly reason: string;
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
export function shouldAutoCompact(
  tokens: number,
  windowTokens: number,
  state: AutoCompactState,
  options: ThresholdOptions = {},
): boolean {
  return state.pausedTurns === 0 && shouldCompact(tokens, windowTokens, options);
}

/** Whether the configured summarizer may be asked. */
export function isSummarizerPaused({ summarizer }: AutoCompactState): boolean {
  return (summarizer?.pausedTurns ?? 0) > 0;
}

/** The state after a turn in which nothing was tried. */
export function afterTurn(state: AutoCompactState): AutoCompactState {
  const older = oneTurnOlder(state);
  return older.pausedTurns === 0 ? older : { ...older, pausedTurns: older.pausedTurns - 1 };
}

/** What an automatic run comes to while runs are paused. */
export function pausedOutcome(name: string, { pausedTurns, reason }: AutoCompactState): NotCompacted {
  const message = `${name} is paused for ${pausedTurns} more turns (${reason ?? 'earlier failures'}); a manual run still runs`;
  return notCompacted('skipped', 'paused', message);
}

/** The state before a manual run, which ends every pause: what failed before is forgotten. */
export function forgetFailures(state: AutoCompactState): AutoCompactState {
  const { compactionCount, consecutiveFailures, uselessPasses, pausedTurns, summarizer, refills } = state;
  const isClean = consecutiveFailures + uselessPasses + pausedTurns === 0;
  if (isClean && summarizer === undefined && refills === undefined) return state;
  return { ...initialAutoCompactState, compactionCount };
}

/** The state after a compaction that says nothing about the next run. */
export function countCompaction(state: AutoCompactState): AutoCompactState {
  return { ...state, compactionCount: state.compactionCount + 1 };
}

/** The state after a run that the caller may have aborted: one that was says nothing about the next. */
export function afterRun(
  state: AutoCompactState,
  outcome: Outcome,
  {
    signal,
    summarizerFailure,
  }: { readonly signal: AbortSignal | undefined; readonly summarizerFailure?: string | undefined },
): AutoCompactState {
  const isAborted = signal?.aborted === true && changeOf(outcome) === undefined;
  return isAborted ? state : afterOutcome(state, outcome, summarizerFailure);
}

/**
 * The state after a run. Outcomes are judged, not attempts: a run that changes nothing counts as well as one that fails,
 * and summaries of a model that are used up as soon as they are there. What was paused gets a single try when the pause is
 * over, and pauses again at once when that fails too.
 */
export function afterOutcome(
  state: AutoCompactState,
  outcome: Outcome,
  /** Why the configured summarizer wrote nothing in this run, if it was asked and did not. */
  summarizerFailure?: string,
): AutoCompactState {
  // Somebody stopped it: that says nothing about the next run.
  if (outcome.status === 'failed' && ABORTED.has(outcome.reason)) return state;
  const older = oneTurnOlder(state);
  const summarizer = nextSummarizer(older, outcome, summarizerFailure);
  const next = summarizer === older.summarizer ? older : { ...older, summarizer };
  if (changeOf(outcome) !== undefined)
    return afterCompaction(
      { ...next, refills: state.refills, compactionCount: state.compactionCount + 1 },
      outcome,
    );
  switch (outcome.status) {
    case 'failed':
      return pauseIf({ ...next, consecutiveFailures: state.consecutiveFailures + 1 }, outcome.reason);
    case 'insufficient':
      return pauseIf({ ...next, uselessPasses: state.uselessPasses + 1 }, outcome.reason);
    default:
      return next;
  }
}

function nextSummarizer(
  { summarizer }: AutoCompactState,
  { usage }: Outcome,
  failure: string | undefined,
): SummarizerState | undefined {
  // One that was paid and did not fail is well again; one that was not asked is as it was.
  if (failure === undefined) return usage === undefined ? summarizer : undefined;
  const failures = (summarizer?.failures ?? 0) + 1;
  const pausedTurns = failures >= MAX_CONSECUTIVE_FAILURES ? COOL_DOWN_TURNS : 0;
  return { failures, pausedTurns, reason: failure };
}

/** What needs no model may come as often as the window fills. */
function afterCompaction(state: AutoCompactState, { usage }: Outcome): AutoCompactState {
  const next = {
    ...initialAutoCompactState,
    compactionCount: state.compactionCount,
    summarizer: state.summarizer,
  };
  if (usage === undefined) return { ...next, refills: olderRefills(state.refills) };
  const inRow = state.refills === undefined ? 0 : state.refills.inRow + 1;
  if (inRow < MAX_RAPID_REFILLS) return { ...next, refills: { turns: 0, inRow } };
  return { ...next, summarizer: { failures: 0, pausedTurns: COOL_DOWN_TURNS, reason: RAPID_REFILL } };
}

/** Forgets a paid summary that has lasted long enough, and brings the end of the summarizer's pause nearer. */
function oneTurnOlder(state: AutoCompactState): AutoCompactState {
  if (state.refills === undefined && !isSummarizerPaused(state)) return state;
  return { ...state, refills: olderRefills(state.refills), summarizer: olderSummarizer(state.summarizer) };
}

function olderRefills(refills: Refills | undefined): Refills | undefined {
  if (refills === undefined || refills.turns + 1 >= RAPID_REFILL_TURNS) return undefined;
  return { turns: refills.turns + 1, inRow: refills.inRow };
}

function olderSummarizer(summarizer: SummarizerState | undefined): SummarizerState | undefined {
  if (summarizer === undefined || summarizer.pausedTurns === 0) return summarizer;
  return { ...summarizer, pausedTurns: summarizer.pausedTurns - 1 };
}

function pauseIf(state: AutoCompactState, reason: string): AutoCompactState {
  const isTooMuch =
    state.consecutiveFailures >= MAX_CONSECUTIVE_FAILURES || state.uselessPasses >= MAX_USELESS_PASSES;
  return isTooMuch ? { ...state, pausedTurns: COOL_DOWN_TURNS, reason } : state;
}
