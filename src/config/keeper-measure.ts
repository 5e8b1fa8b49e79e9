import type { Conversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import type { TokenEstimator } from '../core/token-estimator.ts';
import { measureContext } from '../core/tokens.ts';

/** A report that is far from our own estimate is somebody else's, or of another turn. */
const TRUSTED_FACTOR = 2;

/** Tokens of a view: what was reported with the newest response, and an estimate of what came behind it. */
export function measureView(view: Conversation, usage: Usage | undefined, estimator: TokenEstimator): number {
  const { tokens } = measureContext(view, estimator);
  if (usage === undefined) return tokens;
  const answered = view.messages.findLastIndex(({ role }) => role === 'assistant');
  const since = view.messages
    .slice(answered + 1)
    .reduce((sum, message) => sum + estimator.countMessage(message), 0);
  const reported = Math.round(usage.promptTokens + usage.outputTokens + since);
  return reported >= tokens / TRUSTED_FACTOR && reported <= tokens * TRUSTED_FACTOR ? reported : tokens;
}
