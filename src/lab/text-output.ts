import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';

/** One message of the user's with this text, in the format of the conversation. */
export function textOutput({ format }: Conversation, text: string): readonly Message[] {
  return format.userMessages([format.textBlock(text === '' ? '(nothing was kept)' : text)]);
}

/** As many of the newest pieces as fit into a budget, in their order, with `between` between them. */
export function joinNewest(
  pieces: readonly string[],
  between: string,
  budgetTokens: number,
  estimator: TokenEstimator,
): string {
  const mostTokens = budgetTokens - estimator.profile.perMessageTokens;
  const text = joinUpTo(pieces, between, mostTokens, estimator);
  // Counted piece by piece, a text may seem smaller than it is.
  const tokens = estimator.countText(text);
  return tokens <= mostTokens
    ? text
    : joinUpTo(pieces, between, (mostTokens * mostTokens) / tokens, estimator);
}

function joinUpTo(
  pieces: readonly string[],
  between: string,
  mostTokens: number,
  estimator: TokenEstimator,
): string {
  let left = mostTokens;
  let start = pieces.length;
  for (; start > 0; start--) {
    left -= estimator.countText(`${between}${pieces[start - 1]}`);
    if (left < 0) break;
  }
  return pieces.slice(start).join(between);
}
