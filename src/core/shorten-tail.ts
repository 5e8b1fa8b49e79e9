import type { Edit } from './edit.ts';
import { type Message, type ToolResultBlock, textOf } from './message.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** A result gets no shorter than this by shortening: its beginning says what it is. */
const SHORTEST_RESULT_TOKENS = 60;

/** Edits that shorten the largest results of the newest messages, and the tokens that they free. */
export interface ShortenedTail {
  readonly edits: readonly Edit[];
  /** The messages as they were. */
  readonly messages: readonly Message[];
  readonly freedTokens: number;
}

/** Nothing is too long. */
export const NOTHING_SHORTENED: ShortenedTail = { edits: [], messages: [], freedTokens: 0 };

interface Result {
  readonly message: number;
  readonly block: number;
  readonly text: string;
  readonly tokens: number;
}

/**
 * Shortens results from `start` on until the messages there have no more than `limitTokens`, each to its first and last
 * lines. The largest are shortened to one size, so that no more of them are touched than needed.
 */
export function shortenTail(
  messages: readonly Message[],
  start: number,
  { limitTokens, estimator }: { readonly limitTokens: number; readonly estimator: TokenEstimator },
): ShortenedTail {
  let tokens = 0;
  const results: Result[] = [];
  for (let index = start; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) continue;
    tokens += estimator.countMessage(message);
    for (const [block, each] of message.blocks.entries()) {
      if (each.type === 'tool-result' && isText(each))
        results.push({
          message: index,
          block,
          text: textOf(each),
          tokens: estimator.countBlockOf(message, block),
        });
    }
  }
  const size = commonSize(results, tokens - limitTokens);
  if (size === undefined) return NOTHING_SHORTENED;
  const edits: Edit[] = [];
  const touched = new Set<Message>();
  let freedTokens = 0;
  for (const { message, block, text, tokens: before } of results) {
    if (before <= size) continue;
    const shorter = ends(text, size / before);
    edits.push({ type: 'rewrite', message, block, text: shorter });
    freedTokens += before - estimator.countText(shorter);
    const found = messages[message];
    if (found !== undefined) touched.add(found);
  }
  return { edits, messages: [...touched], freedTokens };
}

function isText({ runBy, content }: ToolResultBlock): boolean {
  return runBy === 'client' && content.every(({ type }) => type === 'text');
}

/** The size that the largest results must have so that so many tokens are freed; undefined when none are to be. */
function commonSize(results: readonly Result[], excess: number): number | undefined {
  if (excess <= 0) return undefined;
  const sizes = results.map(({ tokens }) => tokens).toSorted((left, right) => right - left);
  let sum = 0;
  for (const [index, size] of sizes.entries()) {
    sum += size;
    const next = sizes[index + 1] ?? 0;
    const common = (sum - excess) / (index + 1);
    if (common >= next) return Math.max(SHORTEST_RESULT_TOKENS, common);
  }
  return sizes.length === 0 ? undefined : SHORTEST_RESULT_TOKENS;
}

const GAP = '[… shortened; lines that matter stand in the summary above …]';

/** The beginning and the end of a text, about so large a share of it, at the ends of lines where there are any. */
function ends(text: string, share: number): string {
  const room = Math.max(0, Math.floor(text.length * share) - GAP.length);
  const head = Math.floor(room * 0.7);
  return `${text.slice(0, head)}\n${GAP}\n${room - head === 0 ? '' : text.slice(-(room - head))}`;
}
