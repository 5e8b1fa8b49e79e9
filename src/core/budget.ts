/** How full a context window is. */
export type TokenWarningState = 'ok' | 'warning' | 'critical';

/** Share of the window from which on a conversation is worth a warning. */
export const WARNING_FRACTION = 0.8;

/** Share of the window from which on the next request may fail. */
export const CRITICAL_FRACTION = 0.95;

/** Share of the window from which on an automatic compaction runs, at the latest. */
export const AUTOCOMPACT_TRIGGER_FRACTION = 0.9;

/** Share of the window from which on nothing but an emergency helps. */
export const COLLAPSE_FRACTION = 0.98;

/** Tokens that are kept free for the answer, at most. */
export const RESERVE_TOKENS = 20_000;

/** Tokens between the trigger and the room for the answer: a turn may add that much before the next look. */
export const TRIGGER_MARGIN_TOKENS = 13_000;

/** Share of the trigger that a compaction aims at: far enough below that the next turn does not set it off again. */
export const TARGET_FRACTION = 0.6;

/** The warning level of so many tokens in a window of so many; a window of 0 or less has no limit. */
export function tokenWarningState(tokens: number, windowTokens: number): TokenWarningState {
  if (windowTokens <= 0) return 'ok';
  if (tokens >= windowTokens * CRITICAL_FRACTION) return 'critical';
  return tokens >= windowTokens * WARNING_FRACTION ? 'warning' : 'ok';
}

/** When to act, and how small to get. */
export interface Thresholds {
  readonly windowTokens: number;
  readonly triggerTokens: number;
  readonly targetTokens: number;
}

export interface ThresholdOptions {
  /** What the model may answer with, at most. Default 20,000. */
  readonly maxOutputTokens?: number | undefined;
  /** Overrides the trigger; it can only make it earlier. */
  readonly triggerTokens?: number | undefined;
  /** Overrides the target; it stays below the trigger. */
  readonly targetTokens?: number | undefined;
}

/**
 * The thresholds of a window. The trigger leaves room for the answer and for one more turn, but is never below half of the
 * window, so that small windows do not compact all the time. A window of 0 or less has no limit: nothing is ever due.
 */
export function thresholdsFor(windowTokens: number, options: ThresholdOptions = {}): Thresholds {
  if (windowTokens <= 0) {
    return {
      windowTokens: 0,
      triggerTokens: Number.POSITIVE_INFINITY,
      targetTokens: Number.POSITIVE_INFINITY,
    };
  }
  const reserve = Math.min(options.maxOutputTokens ?? RESERVE_TOKENS, RESERVE_TOKENS);
  const roomy = Math.min(
    AUTOCOMPACT_TRIGGER_FRACTION * windowTokens,
    windowTokens - reserve - TRIGGER_MARGIN_TOKENS,
  );
  const latest = Math.floor(Math.max(roomy, windowTokens / 2));
  const triggerTokens = Math.min(options.triggerTokens ?? latest, latest);
  const targetTokens = Math.min(
    options.targetTokens ?? Math.floor(triggerTokens * TARGET_FRACTION),
    triggerTokens - 1,
  );
  return { windowTokens, triggerTokens, targetTokens };
}

/** Whether so many tokens in a window of so many call for a compaction, by the share of the window alone. */
export function shouldCompact(tokens: number, windowTokens: number): boolean {
  return windowTokens > 0 && tokens >= windowTokens * AUTOCOMPACT_TRIGGER_FRACTION;
}

/** Whether only an emergency helps any more. */
export function shouldContextCollapse(tokens: number, windowTokens: number): boolean {
  return windowTokens > 0 && tokens >= windowTokens * COLLAPSE_FRACTION;
}
