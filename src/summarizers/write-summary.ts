import type { Usage } from '../core/message.ts';
import type { SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { isBlank } from './accept.ts';
import { fitItems, readEntries, type SummaryItem, writeItems } from './document.ts';
import { mergeEntries, readItems } from './merge.ts';
import { userWords, verifyQuotes } from './quotes.ts';
import { sectionOf } from './sections.ts';
import { markUnverified, sourceTexts } from './verify-claims.ts';

/** An answer this many times over the cap does not come within it by losing its false quotations. */
const LARGEST_ANSWER = 2;

/**
 * Makes the summary from an answer that was accepted: points that put words into the user's mouth go, those that name
 * what the source does not know are marked, and the rest is merged into the previous summary. The result must be within its cap and smaller than what it stands for. A summary that was
 * carried on is shortened to its cap, point by point; a new one that exceeds it has failed.
 */
export function writeSummary(
  answer: string,
  request: SummaryRequest,
  usage: Usage | undefined,
): SummaryOutcome {
  // Before any quotation is looked up: that costs time for each of them.
  if (request.estimator.countText(answer) > request.maximumTokens * LARGEST_ANSWER)
    return { status: 'failed', ...tooLarge(request), usage };
  const previous = readItems(request.previousSummary ?? '');
  const words = [...userWords(request.messages), ...userWordsIn(previous)];
  const entries = markUnverified(verifyQuotes(readEntries(answer), words), sourceTexts(request));
  // Without anything new the old summary would stand for messages that it says nothing about.
  if (entries.length === 0) return { status: 'failed', ...nothingKept, usage };
  const merged = mergeEntries(previous, entries);
  const text = fitted(merged, previous.length > 0, request);
  const rejection = text === undefined ? tooLarge(request) : judgeSize(text, request);
  return rejection === undefined
    ? { status: 'summarized', text: text ?? '', usage }
    : { status: 'failed', ...rejection, usage };
}

/** What earlier summaries quoted was looked up when it was written. */
function userWordsIn(items: readonly SummaryItem[]): readonly string[] {
  return items.filter(({ section }) => sectionOf(section).checks !== 'attributed').map(({ text }) => text);
}

function fitted(
  items: readonly SummaryItem[],
  mayShrink: boolean,
  { estimator, maximumTokens }: SummaryRequest,
): string | undefined {
  const fits = (candidate: readonly SummaryItem[]) =>
    estimator.countText(writeItems(candidate)) <= maximumTokens;
  const kept = mayShrink ? fitItems(items, fits) : fits(items) ? items : undefined;
  return kept === undefined ? undefined : writeItems(kept);
}

interface SizeRejection {
  readonly reason: 'empty' | 'too-large' | 'not-smaller';
  readonly message: string;
}

const nothingKept: SizeRejection = { reason: 'empty', message: 'there was nothing in it that could be kept' };

function tooLarge({ maximumTokens }: SummaryRequest): SizeRejection {
  return {
    reason: 'too-large',
    message: `the summary has more than the ${maximumTokens} tokens it may have; allow more, or summarise less at once`,
  };
}

/** Why a summary is not worth having, whoever wrote it; undefined when it is. */
export function judgeSize(text: string, request: SummaryRequest): SizeRejection | undefined {
  const { estimator, messages, previousSummary = '', maximumTokens } = request;
  if (isBlank(text)) return nothingKept;
  const tokens = estimator.countText(text);
  if (tokens > maximumTokens) return tooLarge(request);
  const source = estimator.countMessages(messages) + estimator.countText(previousSummary);
  if (tokens < source) return undefined;
  return {
    reason: 'not-smaller',
    message: `the summary has ${Math.round(tokens)} tokens, what it stands for has ${Math.round(source)}`,
  };
}
