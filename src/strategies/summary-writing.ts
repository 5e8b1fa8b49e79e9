import { addUsage } from '../core/add-usage.ts';
import type { Covered } from '../core/covered.ts';
import type { Usage } from '../core/message.ts';
import type { StrategyContext } from '../core/strategy.ts';
import { askSummarizer, type SummaryOutcome, type SummaryRequest } from '../core/summarizer.ts';
import { type ToppedUp, tokensAside, topUp } from '../core/survival.ts';

/** A shorter summary is not worth its place. */
export const SMALLEST_SUMMARY_TOKENS = 64;

export type Written =
  | Extract<SummaryOutcome, { readonly status: 'failed' }>
  | (ToppedUp & { readonly status: 'summarized'; readonly usage: Usage | undefined });

/**
 * A summary with what it lost behind it, together within `maximumTokens` as far as the demands of the user allow. They
 * are paid from the room of the summary: a model, which is paid by the word, is asked once and gets less room from the
 * start; whoever needs no model is asked again with less when it dropped them.
 */
export async function writeSummaryOf(
  { summarizer, estimator }: StrategyContext,
  covered: Covered,
  request: SummaryRequest,
): Promise<Written> {
  const countText = (text: string) => estimator.countText(text);
  const { maximumTokens } = request;
  const within = (tokens: number) => ({
    ...request,
    maximumTokens: Math.max(Math.min(SMALLEST_SUMMARY_TOKENS, maximumTokens), maximumTokens - tokens),
  });
  const areDropped = summarizer.asksModel;
  const asideTokens = Math.min(
    tokensAside(covered, { maximumTokens, countText }, { areDropped }),
    Math.floor(maximumTokens / 2),
  );
  const first = await askSummarizer(summarizer, within(asideTokens));
  if (first.status === 'failed') return first;
  const topped = topUp(first.text, covered, { maximumTokens, countText });
  const excess = Math.ceil(countText(topped.text)) - maximumTokens;
  if (excess <= 0 || summarizer.asksModel) return { ...first, ...topped };
  const second = await askSummarizer(summarizer, within(asideTokens + excess));
  // What cannot be said shorter is better than nothing: demands may take more than the room.
  return second.status === 'failed'
    ? { ...first, ...topped }
    : {
        ...second,
        ...topUp(second.text, covered, { maximumTokens, countText }),
        usage: addUsage(first.usage, second.usage),
      };
}
