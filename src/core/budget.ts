/** How full a context window is. */
export type TokenWarningState = 'ok' | 'warning' | 'critical';

/** Share of the window from which on a conversation is worth a warning. */
export const WARNING_FRACTION = 0.8;

/** Share of the window from which on the next request may fail. */
export const CRITICAL_FRACTION = 0.95;

/** The warning level of so many tokens in a window of so many; a window of 0 or less has no limit. */
export function tokenWarningState(tokens: number, windowTokens: number): TokenWarningState {
  if (windowTokens <= 0) return 'ok';
  if (tokens >= windowTokens * CRITICAL_FRACTION) return 'critical';
  return tokens >= windowTokens * WARNING_FRACTION ? 'warning' : 'ok';
}
