import type { Message } from '../../conversation/message.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import type { Edit } from '../plan/edit.ts';
import { shortenText } from '../shorten-text.ts';

/** No result gets shorter than this by shortening. */
const SHORTEST_RESULT_TOKENS = 256;

/** A tool result of which head and tail are left. */
export interface Shortened {
  readonly rewrite: Extract<Edit, { type: 'rewrite' }>;
  readonly savedTokens: number;
}

/** A client's tool result that is nothing but text. */
export interface TextResult {
  readonly message: number;
  readonly block: number;
  readonly text: string;
  readonly tokens: number;
}

/** The text results in the messages from `start` up to and without `end`. */
export function textResults(
  messages: readonly Message[],
  { start, end }: { readonly start: number; readonly end: number },
  estimator: TokenEstimator,
): readonly TextResult[] {
  const found: TextResult[] = [];
  for (let message = start; message < end; message++) {
    for (const [block, value] of (messages[message]?.blocks ?? []).entries()) {
      if (value.type !== 'tool-result' || value.runBy === 'server') continue;
      const texts = value.content.flatMap((inner) => (inner.type === 'text' ? [inner.text] : []));
      if (texts.length < value.content.length) continue;
      found.push({ message, block, text: texts.join('\n'), tokens: estimator.countBlock(value) });
    }
  }
  return found;
}

/** Shortens results until `missingTokens` are freed, the largest first, each no more than it has to. */
export function shortenResults(
  results: readonly TextResult[],
  missingTokens: number,
  estimator: TokenEstimator,
): readonly Shortened[] {
  const shortened: Shortened[] = [];
  let missing = missingTokens;
  for (const result of results.toSorted((left, right) => right.tokens - left.tokens)) {
    const { message, block, tokens } = result;
    if (missing <= 0 || tokens <= 2 * SHORTEST_RESULT_TOKENS) break;
    // The note costs tokens too: less than a tenth is not worth one.
    const wanted = Math.min(tokens - missing, tokens * 0.9);
    const text = shortenText(result.text, Math.max(SHORTEST_RESULT_TOKENS, wanted), (each) =>
      estimator.countText(each),
    );
    const savedTokens = tokens - estimator.countText(text);
    if (savedTokens <= 0) continue;
    shortened.push({ rewrite: { type: 'rewrite', message, block, text }, savedTokens });
    missing -= savedTokens;
  }
  return shortened;
}
