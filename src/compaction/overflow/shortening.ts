import type { Message } from '../../conversation/message.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import type { Edit } from '../plan/plan.ts';

/** Tokens are not spread evenly over a text: a miss corrects the next try. */
const TRIES = 4;
/** Each try aims a little lower: the note counts too, and by the mere ratio one would only ever come closer. */
const AIM = 0.99;

/**
 * A text of so many tokens at most: two thirds from its beginning, one third from its end, and a note between that says
 * how much is left out. The very same text when it is short enough.
 */
export function shortenText(text: string, tokens: number, countText: (text: string) => number): string {
  let size = countText(text);
  let length = text.length;
  let shorter = text;
  for (let tries = 0; tries < TRIES && size > tokens; tries++) {
    length = Math.floor((length * Math.max(0, tokens) * AIM) / size);
    shorter = leaveOutMiddle(text, length);
    size = countText(shorter);
  }
  return shorter;
}

/** Halves no character. */
function leaveOutMiddle(text: string, length: number): string {
  const tailLength = Math.floor(length / 3);
  const head = text.slice(0, length - tailLength).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - tailLength).replace(/^[\uDC00-\uDFFF]/, '');
  const middle = text.slice(head.length, text.length - tail.length);
  return `${head}\n[${originalLength(middle)} characters left out to fit the context window]\n${tail}`;
}

const NOTE = /\n\[(\d{1,12}) characters left out to fit the context window\]\n/g;

/** A text that was shortened before counts as what it was then. */
function originalLength(text: string): number {
  let length = text.length;
  for (const [note, count] of text.matchAll(NOTE)) length += Number(count) - note.length;
  return length;
}

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
