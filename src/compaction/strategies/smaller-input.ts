import { type Conversation, withMessages } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { readOpenings } from '../../conversation/summary-message.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import { truncateHeadForRetry } from '../overflow/retry-truncation.ts';
import { findFloor } from '../plan/floor.ts';
import type { StrategyContext } from '../plan/strategy.ts';
import { type Source, sourceAt } from './summary-source.ts';

/** A summary whose input was too long for the summarizer. */
export interface TooLong {
  readonly source: Source;
  readonly overflow: OverflowFacts | undefined;
  /** The number of the retry, from 1. */
  readonly attempt: number;
  /** What the summary may have. */
  readonly summaryTokens: number;
}

/** Share of the input that goes where nobody said how much is too much, by retry; and what goes on top of a known gap. */
const SHARES = [0.2, 0.4, 0.6];
const MARGIN = 1.1;

/**
 * The source with an input that is as much smaller as the refusal asks for. Where the target leaves room for them, the
 * newest covered rounds stay in the conversation as they are. Otherwise the oldest leave the input, and our own memory tells
 * of them, so that nothing is covered that nobody has read. Undefined when nothing can go.
 */
export function smallerInput(
  conversation: Conversation,
  context: StrategyContext,
  tooLong: TooLong,
): Source | undefined {
  return withoutNewest(conversation, context, tooLong) ?? withoutOldest(conversation, context, tooLong);
}

function withoutNewest(
  conversation: Conversation,
  context: StrategyContext,
  { source, overflow, attempt, summaryTokens }: TooLong,
): Source | undefined {
  const { messages } = conversation;
  const gap = gapOf(source, overflow, attempt);
  let freed = 0;
  let cut = source.layout.cut;
  for (const { start, end } of source.layout.leaving.toReversed()) {
    if (freed >= gap) break;
    for (const message of messages.slice(start, end)) freed += context.estimator.countMessage(message);
    cut = start;
  }
  const smaller = sourceAt(conversation, context, { spans: source.spans, cut });
  const { tokens } = findFloor(conversation, context.estimator, smaller.layout);
  const isEnough = freed >= gap && smaller.hasNews && tokens + summaryTokens <= context.targetTokens;
  return isEnough ? smaller : undefined;
}

/** The excess is in the provider's tokens, the input is counted in ours. */
function gapOf({ tokens }: Source, overflow: OverflowFacts | undefined, attempt: number): number {
  const { excessTokens, actualTokens } = overflow ?? {};
  if (excessTokens === undefined || excessTokens <= 0) return tokens * (SHARES[attempt - 1] ?? 0.6);
  const scale = actualTokens === undefined || actualTokens <= 0 ? 1 : tokens / actualTokens;
  return excessTokens * Math.min(1, scale) * MARGIN;
}

function withoutOldest(
  conversation: Conversation,
  context: StrategyContext,
  { source, overflow, attempt }: TooLong,
): Source | undefined {
  const shown = source.input ?? newsOf(conversation, source);
  const truncated = truncateHeadForRetry(withMessages(conversation, shown), {
    estimator: context.estimator,
    overflow,
    attempt,
    isSummaryInput: true,
  });
  return truncated === null ? undefined : { ...source, input: truncated.conversation.messages };
}

function newsOf({ messages }: Conversation, { layout }: Source): readonly Message[] {
  return layout.leaving
    .flatMap(({ start, end }) => messages.slice(start, end))
    .filter((message) => readOpenings(message) === undefined);
}
