import type { Summarizer, SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { digest } from './digest.ts';

/** Parts what a model wrote from the digest behind it. */
const DIGEST_LINE = 'Lines of the messages themselves:';

/** Share of the room that a model's own words may take; the lines behind them take what they leave. */
const WORDS_SHARE = 0.6;
/** Tokens of the facts that a model is shown before it writes. */
const FACT_TOKENS = 2000;
/** Fewer tokens of lines are not worth their heading. */
const SMALLEST_DIGEST_TOKENS = 100;

/**
 * Lets a summarizer that asks a model work from facts: it is shown a digest of what it summarises, and behind what it
 * writes come the lines of the messages themselves that are most likely needed again, as far as there is room. What the
 * model leaves out or gets wrong can be read there.
 */
export function withDigest(inner: Summarizer): Summarizer {
  return {
    name: `${inner.name} with digest`,
    asksModel: inner.asksModel,
    async summarize(request) {
      const previous = readPrevious(request.previousSummary);
      const facts = await digestOf(request, previous.lines, Math.min(FACT_TOKENS, request.maximumTokens));
      const outcome = await inner.summarize({
        ...request,
        previousSummary: previous.words,
        maximumTokens: Math.floor(request.maximumTokens * WORDS_SHARE),
        facts,
      });
      return outcome.status === 'failed' ? outcome : addLines(outcome, request, previous.lines);
    },
  };
}

/** A previous summary in its two parts, each undefined where there is none. */
interface PreviousSummary {
  readonly words: string | undefined;
  readonly lines: string | undefined;
}

function readPrevious(text: string | undefined): PreviousSummary {
  const at = text === undefined ? -1 : text.lastIndexOf(`\n\n${DIGEST_LINE}\n`);
  if (text === undefined || at === -1) return { words: text, lines: undefined };
  return { words: text.slice(0, at), lines: text.slice(at + DIGEST_LINE.length + 3) };
}

async function addLines(
  outcome: Extract<SummaryOutcome, { readonly status: 'summarized' }>,
  request: SummaryRequest,
  previous: string | undefined,
): Promise<SummaryOutcome> {
  const { estimator, maximumTokens } = request;
  const heading = `${outcome.text}\n\n${DIGEST_LINE}\n`;
  const room = Math.floor(maximumTokens - estimator.countText(heading)) - 1;
  const lines = room < SMALLEST_DIGEST_TOKENS ? undefined : await digestOf(request, previous, room);
  const text = lines === undefined ? outcome.text : `${heading}${lines}`;
  // Counted together, the parts may have a token more than by themselves.
  return estimator.countText(text) <= maximumTokens ? { ...outcome, text } : outcome;
}

/** Lines of the messages, and of the digest before them; undefined where there is nothing to tell. */
async function digestOf(
  request: SummaryRequest,
  previousSummary: string | undefined,
  maximumTokens: number,
): Promise<string | undefined> {
  const outcome = await digest.summarize({ ...request, previousSummary, maximumTokens });
  return outcome.status === 'summarized' ? outcome.text : undefined;
}
