import type { Conversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import type { TokenEstimator } from '../tokens/token-estimator.ts';
import { measureContext } from '../tokens/tokens.ts';

/** A report that is far from our own estimate is somebody else's, or of another turn. */
const TRUSTED_FACTOR = 2;

/**
 * Tokens of a request that is about to be sent: what was reported with the newest response, and an estimate of what came
 * after it. A report is of the past: it is never taken for the whole list.
 */
export function measureRequest(
  conversation: Conversation,
  usage: Usage | undefined,
  estimator: TokenEstimator,
): number {
  const { tokens } = measureContext(conversation, estimator);
  if (usage === undefined) return tokens;
  const { messages } = conversation;
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  let since = 0;
  for (const message of messages.slice(answered + 1)) since += estimator.countMessage(message);
  // The two are compared where both speak of the same: up to the newest response.
  const reported = usage.promptTokens + usage.outputTokens;
  const expected = tokens - since;
  const isTrusted = reported >= expected / TRUSTED_FACTOR && reported <= expected * TRUSTED_FACTOR;
  return isTrusted ? Math.round(reported + since) : tokens;
}
