/** Sends a request again after "prompt too long", each time with less of it. */

import type { Conversation } from '../../conversation/format.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import { requestTokens } from '../../tokens/measure.ts';
import type { Receipt } from '../plan/receipt.ts';
import {
  largestOf,
  type NamedRound,
  nameRounds,
  type RetryTruncation,
  type RetryTruncationOptions,
  truncateHeadForRetry,
} from './truncation.ts';

/** How often a request is tried again by default. */
export const MAX_OVERFLOW_RETRIES = 3;

/** An output limit below this is no cure: old rounds are worth less than the answer. */
const SMALLEST_OUTPUT_TOKENS = 512;

/** Kinds of overflow that a shorter history does not cure. */
const CURED_ELSEWHERE: ReadonlySet<string> = new Set(['media-limit']);

/** How the next request differs from the one that was refused. */
export interface OverflowRetry
  extends Omit<RetryTruncation, 'conversation' | 'plan' | 'leftOut' | 'marker' | 'receipt'> {
  /** From 1. */
  readonly attempt: number;
  /** For a log: what was refused and what is left out, with the names of the rounds. */
  readonly message: string;
  readonly remainingMessages: number;
  /** The output limit of the next request, where there is one. */
  readonly maxOutputTokens: number | undefined;
  /** What became of every message of the refused request; undefined when only the output limit changed. */
  readonly receipt: Receipt | undefined;
}

export interface OverflowRecoveryOptions<Answer>
  extends Pick<
    RetryTruncationOptions,
    'estimator' | 'windowTokens' | 'policy' | 'marginFraction' | 'pins' | 'bindsReasoning'
  > {
  readonly conversation: Conversation;
  /** Makes the request. What it throws is given to `judge`. */
  send(
    conversation: Conversation,
    limits: { readonly maxOutputTokens: number | undefined },
  ): Answer | Promise<Answer>;
  /** What an error says about size, as `parseOverflow` tells it; undefined when it is about something else. */
  judge(error: unknown): OverflowFacts | undefined;
  /** The output limit of the first request. */
  readonly maxOutputTokens?: number | undefined;
  /** Default 3. */
  readonly maxRetries?: number | undefined;
  /** Hears of every retry before it is sent. */
  readonly onRetry?: ((retry: OverflowRetry) => void) | undefined;
}

/** How it ended. */
export type OverflowRecovery<Answer> = SentAtLast<Answer> | ConversationTooLong;

export interface SentAtLast<Answer> {
  readonly status: 'sent';
  readonly answer: Answer;
  /** What was sent: the conversation that was given, unless there were retries. */
  readonly conversation: Conversation;
  readonly retries: readonly OverflowRetry[];
}

export interface ConversationTooLong {
  readonly status: 'failed';
  readonly reason: 'conversation-too-long';
  /** For people. */
  readonly message: string;
  /** Another loop around this one would only multiply the requests. */
  readonly isRetryable: false;
  /** The error that the conversation as it was given came back with, untouched. */
  readonly cause: unknown;
  /** The largest round of what was sent last. */
  readonly largestRound: NamedRound | undefined;
  readonly retries: readonly OverflowRetry[];
}

/**
 * Sends a request, and sends it again with less in it when the provider says that it does not fit: a lower output limit
 * where that is the cause (once), else what `truncateHeadForRetry` makes of it. From the second retry on at least half
 * goes, as far as rounds without a pin have it, so that dropping retries together stay below twice the first request. The
 * conversation that was given is never changed, and what was dropped for a request is no progress to be stored.
 * @throws whatever `send` throws, as it is, when `judge` finds no overflow in it or one that a shorter history cannot cure
 */
export async function recoverFromOverflow<Answer>(
  options: OverflowRecoveryOptions<Answer>,
): Promise<OverflowRecovery<Answer>> {
  const { judge, maxRetries = MAX_OVERFLOW_RETRIES, onRetry } = options;
  const retries: OverflowRetry[] = [];
  let request: Request = options;
  let original: { readonly error: unknown } | undefined;
  for (;;) {
    const { conversation, maxOutputTokens } = request;
    let facts: OverflowFacts | undefined;
    try {
      const answer = await options.send(conversation, { maxOutputTokens });
      return { status: 'sent', answer, conversation, retries };
    } catch (error) {
      facts = judge(error);
      if (facts === undefined || CURED_ELSEWHERE.has(facts.kind)) throw error;
      original ??= { error };
    }
    const next = retries.length < maxRetries ? nextRequest(request, facts, retries, options) : undefined;
    if (next === undefined)
      return tooLong(
        original.error,
        largestOf(nameRounds(conversation.messages, options.estimator)),
        retries,
      );
    retries.push(next.retry);
    onRetry?.(next.retry);
    request = next;
  }
}

interface Request {
  readonly conversation: Conversation;
  readonly maxOutputTokens?: number | undefined;
}

interface NextRequest extends Request {
  readonly retry: OverflowRetry;
}

function nextRequest<Answer>(
  request: Request,
  facts: OverflowFacts,
  retries: readonly OverflowRetry[],
  options: OverflowRecoveryOptions<Answer>,
): NextRequest | undefined {
  const attempt = retries.length + 1;
  const wasLowered = retries.some(({ receipt }) => receipt === undefined);
  const lowered = wasLowered ? undefined : lowerOutput(facts, request.maxOutputTokens);
  return lowered === undefined
    ? withLessHistory(request, facts, attempt, options)
    : withLessOutput(request, lowered, attempt);
}

/** The output limit that fits beside the prompt; undefined when output is not the cause, or too little would be left. */
export function lowerOutput(facts: OverflowFacts, current: number | undefined): number | undefined {
  if (facts.kind !== 'output-too-large') return undefined;
  const { requestedOutputTokens = current, excessTokens } = facts;
  if (requestedOutputTokens === undefined) return undefined;
  const lowered =
    excessTokens === undefined ? Math.floor(requestedOutputTokens / 2) : requestedOutputTokens - excessTokens;
  return lowered >= SMALLEST_OUTPUT_TOKENS && lowered < requestedOutputTokens ? lowered : undefined;
}

function withLessOutput({ conversation }: Request, maxOutputTokens: number, attempt: number): NextRequest {
  const message = `retry ${attempt}: the output limit is ${countText(maxOutputTokens)} tokens now`;
  const remainingMessages = conversation.messages.length;
  return {
    conversation,
    maxOutputTokens,
    retry: { ...NOTHING_LEFT, attempt, message, remainingMessages, maxOutputTokens },
  };
}

const NOTHING_LEFT = {
  droppedRounds: [],
  droppedMessages: 0,
  shortenedRounds: [],
  shortenedResults: 0,
  isCurrentTurnShortened: false,
  largestRound: undefined,
  gapTokens: undefined,
  fraction: undefined,
  receipt: undefined,
};

function withLessHistory<Answer>(
  { conversation, maxOutputTokens }: Request,
  overflow: OverflowFacts,
  attempt: number,
  options: OverflowRecoveryOptions<Answer>,
): NextRequest | undefined {
  // The numbers led astray once already: another near miss would cost a whole request.
  const dropAtLeastTokens = attempt > 1 ? requestTokens(conversation, options.estimator) / 2 : 0;
  const truncated = truncateHeadForRetry(conversation, { ...options, overflow, attempt, dropAtLeastTokens });
  if (truncated === null) return undefined;
  const { conversation: shorter, plan: _plan, leftOut: _leftOut, marker: _marker, ...account } = truncated;
  const message = describeRetry(attempt, truncated);
  const remainingMessages = shorter.messages.length;
  return {
    conversation: shorter,
    maxOutputTokens,
    retry: { ...account, attempt, message, remainingMessages, maxOutputTokens },
  };
}

function tooLong(
  cause: unknown,
  largestRound: NamedRound | undefined,
  retries: readonly OverflowRetry[],
): ConversationTooLong {
  const tries =
    retries.length === 0 ? '' : ` after ${retries.length} ${retries.length === 1 ? 'retry' : 'retries'}`;
  const largest = largestRound === undefined ? '' : `, the largest part is ${largestRound.name}`;
  return {
    status: 'failed',
    reason: 'conversation-too-long',
    message: `the conversation does not fit the context window${tries}${largest}; start a new one, or compact it with a smaller target`,
    isRetryable: false,
    cause,
    largestRound,
    retries,
  };
}

/** One line for a log: what was too much, what is left out, and the names of the rounds. */
function describeRetry(attempt: number, truncated: RetryTruncation): string {
  const { gapTokens, largestRound, droppedRounds, shortenedRounds, isCurrentTurnShortened } = truncated;
  const parts = [
    gapTokens === undefined ? 'too long' : `too long by ${countText(gapTokens)} tokens`,
    largestRound === undefined ? '' : `the largest was ${largestRound.name}`,
    droppedRounds.length === 0 ? '' : `dropped ${listed(droppedRounds)}`,
    shortenedRounds.length === 0 ? '' : `shortened ${listed(shortenedRounds)}`,
    isCurrentTurnShortened ? 'the current turn is not whole' : '',
  ];
  return `retry ${attempt}: ${parts.filter((part) => part !== '').join('; ')}`;
}

/** A line in a log names so many rounds; all of them are in the retry itself. */
const LISTED_ROUNDS = 5;

function listed(rounds: readonly NamedRound[]): string {
  const names = rounds.slice(0, LISTED_ROUNDS).map(({ name }) => name);
  const more = rounds.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** `12,345` */
function countText(tokens: number): string {
  return Math.round(tokens).toLocaleString('en-US');
}
