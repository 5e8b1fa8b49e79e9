import { RoundfoldError } from '../conversation/errors.ts';

/** How full a context window is. */
export type TokenWarningState = 'ok' | 'warning' | 'critical';

/** Share of the window from which on a conversation is worth a warning. */
export const WARNING_FRACTION = 0.8;

/** Share of the window from which on the next request may fail. */
export const CRITICAL_FRACTION = 0.95;

/** Share of the window from which on an automatic compaction runs, at the latest. */
export const AUTOCOMPACT_TRIGGER_FRACTION = 0.9;

/** Share of the window from which on an emergency may drop rounds without a summary of them. */
export const COLLAPSE_FRACTION = 0.98;

/** Share of the window that a request may have after an emergency: just below where it would be one again. */
const RESCUED_FRACTION = 0.975;

/** Share of the window that a prompt leaves to the answer, at most. */
const PROMPT_RESERVE_FRACTION = 0.1;

/** Tokens that are kept free for the answer, at most. */
export const RESERVE_TOKENS = 20_000;

/** Tokens between the trigger and the room for the answer: a turn may add that much before the next look. */
export const TRIGGER_MARGIN_TOKENS = 13_000;

/** Windows below this many tokens have no room for fixed reserves and get shares instead. */
const SMALL_WINDOW_TOKENS = 64_000;
/** What a small window keeps free for the answer, at most, and the share of the rest at which a run is due. */
const SMALL_RESERVE_FRACTION = 0.25;
const SMALL_TRIGGER_FRACTION = 0.8;

/**
 * Shares of the trigger that a compaction aims at. The smaller a target, the cheaper every later request and the rarer the
 * next rewrite of the prompt cache, so the smallest share is the cheapest at any price. The larger share is for windows in
 * which the smaller one would leave a summary and the newest rounds too little room to be of use.
 */
const SMALLEST_TARGET_FRACTION = 0.35;
const LARGEST_TARGET_FRACTION = 0.6;
/** Tokens that a summary and the newest rounds should have together, where the larger share allows it. */
const ROOMY_TARGET_TOKENS = 20_000;

/** The warning level of so many tokens in a window of so many; a window of 0 has no limit. */
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
  /** When a run is due: tokens, or a share of the window (up to 1). */
  readonly trigger?: number | undefined;
  /** How small a run tries to get: tokens, or a share of the window (below 1). Below the trigger. */
  readonly target?: number | undefined;
}

/**
 * The thresholds of a window. By itself the trigger leaves room for the answer and for one more turn. A window of 0 has
 * no limit: nothing is ever due there unless a trigger in tokens says so.
 * @throws RoundfoldError `usage` for numbers that cannot be meant
 */
export function thresholdsFor(windowTokens: number, options: ThresholdOptions = {}): Thresholds {
  const { maxOutputTokens = RESERVE_TOKENS } = options;
  requireNumber('windowTokens', windowTokens, windowTokens >= 0, 'tokens from 1 on, or 0 for no limit');
  requireNumber('maxOutputTokens', maxOutputTokens, maxOutputTokens >= 0, 'tokens from 0 on');
  const triggerTokens = triggerOf(windowTokens, { ...options, maxOutputTokens });
  return { windowTokens, triggerTokens, targetTokens: targetOf(windowTokens, triggerTokens, options) };
}

function triggerOf(
  windowTokens: number,
  { trigger, maxOutputTokens }: ThresholdOptions & { readonly maxOutputTokens: number },
): number {
  if (trigger === undefined) {
    if (windowTokens === 0) return Number.POSITIVE_INFINITY;
    const small = smallTrigger(Math.min(windowTokens, SMALL_WINDOW_TOKENS), maxOutputTokens);
    if (windowTokens < SMALL_WINDOW_TOKENS) return small;
    const roomy = windowTokens - Math.min(maxOutputTokens, RESERVE_TOKENS) - TRIGGER_MARGIN_TOKENS;
    // Just above the border the fixed reserves would have a larger window compacted earlier than a smaller one.
    return Math.max(small, Math.floor(Math.min(AUTOCOMPACT_TRIGGER_FRACTION * windowTokens, roomy)));
  }
  return tokensWithin('trigger', trigger, windowTokens);
}

/**
 * A size within a window, in tokens.
 * @param value tokens, or a share of the window (up to 1)
 * @throws RoundfoldError `usage` when it is no such size
 */
export function tokensWithin(name: string, value: number, windowTokens: number): number {
  const tokens = inTokens(value, windowTokens);
  const isWithin = tokens >= 1 && (windowTokens === 0 || tokens <= windowTokens);
  requireNumber(name, value, isWithin, withinWindow(windowTokens));
  return tokens;
}

function smallTrigger(windowTokens: number, maxOutputTokens: number): number {
  const reserve = Math.min(maxOutputTokens, windowTokens * SMALL_RESERVE_FRACTION);
  return Math.max(1, Math.floor((windowTokens - reserve) * SMALL_TRIGGER_FRACTION));
}

function targetOf(windowTokens: number, triggerTokens: number, { target }: ThresholdOptions): number {
  if (target === undefined) {
    if (triggerTokens === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
    const cheapest = triggerTokens * SMALLEST_TARGET_FRACTION;
    const roomiest = triggerTokens * LARGEST_TARGET_FRACTION;
    return Math.floor(Math.min(roomiest, Math.max(cheapest, ROOMY_TARGET_TOKENS)));
  }
  const tokens = inTokens(target, windowTokens);
  const isBelow = tokens >= 0 && tokens < triggerTokens;
  const limit = triggerTokens === Number.POSITIVE_INFINITY ? '' : `, below the trigger of ${triggerTokens}`;
  requireNumber('target', target, isBelow, `${withinWindow(windowTokens)}${limit}`);
  return tokens;
}

/** Up to 1 it is a share of the window; without a window there is nothing to have a share of. */
function inTokens(value: number, windowTokens: number): number {
  return value > 0 && value <= 1 && windowTokens > 0 ? Math.floor(value * windowTokens) : Math.floor(value);
}

function withinWindow(windowTokens: number): string {
  return windowTokens === 0
    ? 'a number of tokens'
    : `a number of tokens up to the window of ${windowTokens}, or a share of it up to 1`;
}

function requireNumber(name: string, value: number, isSound: boolean, wanted: string): void {
  if (typeof value === 'number' && Number.isFinite(value) && isSound) return;
  throw new RoundfoldError('usage', `${name} is ${String(value)}`, { remedy: `Give ${wanted}.` });
}

/** Whether so many tokens in a window of so many call for a compaction: `thresholdsFor` says from where on. */
export function shouldCompact(tokens: number, windowTokens: number, options: ThresholdOptions = {}): boolean {
  return tokens >= thresholdsFor(windowTokens, options).triggerTokens;
}

/** Whether only an emergency helps any more. */
export function shouldContextCollapse(tokens: number, windowTokens: number): boolean {
  return windowTokens > 0 && tokens >= windowTokens * COLLAPSE_FRACTION;
}

/** The most that a prompt may have in a window without a trigger; infinite when there is no limit. */
export function promptLimitTokens(windowTokens: number, reserveTokens?: number): number {
  if (windowTokens <= 0) return Number.POSITIVE_INFINITY;
  return windowTokens - (reserveTokens ?? Math.min(RESERVE_TOKENS, windowTokens * PROMPT_RESERVE_FRACTION));
}

/** What a request may have after an emergency. */
export function rescuedTokens(windowTokens: number): number {
  return windowTokens * RESCUED_FRACTION;
}
