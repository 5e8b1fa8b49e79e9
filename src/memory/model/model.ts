import { RoundfoldError } from '../../conversation/errors.ts';
import { asCount, isObject } from '../../conversation/json.ts';
import { addUsage, type Usage } from '../../conversation/message.ts';
import { readProse, writeProse } from '../prose.ts';
import type { Summarizer, SummaryFailure, SummaryOutcome, SummaryRequest } from '../summary-request.ts';
import { acceptAnswer, isBlank, type Rejection } from './accept.ts';
import type { Completion, ModelClient } from './model-client.ts';
import { dropFalseQuotes, userWords } from './quotes.ts';
import {
  answerOverflow,
  type Call,
  type ModelSummarizerOptions,
  materialOverflow,
  type Terms,
  writeCall,
} from './summary-call.ts';

import { markUnverified, sourceTexts } from './verify-claims.ts';

/**
 * Lets a model write the prose of a memory: where things stand, and what happened. What the user said, tasks, checks and
 * files are kept by software beside it. One call, and a second one, with a smaller input, when the answer was cut off, or
 * when it called a tool of the conversation's. Every expected failure is an outcome with what was spent.
 * @throws RoundfoldError `usage` when `overflowOf` is missing, or client and conversation do not fit together
 */
export function modelSummarizer(client: ModelClient, options: ModelSummarizerOptions): Summarizer {
  if (typeof options?.overflowOf !== 'function') {
    throw new RoundfoldError('usage', 'a model summarizer needs overflowOf, which reads errors about size', {
      remedy: 'Give it overflowOf: parseOverflow.',
    });
  }
  return {
    name: 'model',
    asksModel: true,
    model: client.model,
    async summarize(request) {
      if (request.messages.length === 0) return failed('empty', 'there is nothing to summarise', undefined);
      const first = await attempt(client, options, request, { partLimit: 0, reusesPrefix: true, shrink: 1 });
      if (first.retryFrom === undefined) return first.outcome;
      const smaller = { partLimit: first.retryFrom, reusesPrefix: false, shrink: 2 };
      const second = await attempt(client, options, request, smaller);
      return { ...second.outcome, usage: addUsage(first.outcome.usage, second.outcome.usage) };
    },
  };
}

interface Attempt {
  readonly outcome: SummaryOutcome;
  /** Part limit of a further call that may do better; undefined when this is the end of it. */
  readonly retryFrom: number | undefined;
}

async function attempt(
  client: ModelClient,
  options: ModelSummarizerOptions,
  request: SummaryRequest,
  terms: Terms,
): Promise<Attempt> {
  if (request.signal?.aborted === true) return final(failed('aborted', 'the run was aborted', undefined));
  const call = writeCall(options, request, terms);
  if ('overflow' in call) {
    const message = `the messages do not fit the window of ${client.model}; summarise fewer at once`;
    return final({ ...failed('input-too-long', message, undefined), overflow: call.overflow });
  }
  const answer = await ask(client, options, call);
  if ('status' in answer) return final(answer);
  const accepted = acceptAnswer(answer, sourceTexts(request));
  if (accepted.reason === undefined) return final(await checkProse(accepted.text, request, answer.usage));
  const isRetried =
    accepted.reason === 'truncated' || (hadTools(call) && accepted.reason === 'called-a-tool');
  const retryFrom = isRetried ? call.smallerPartLimit() : undefined;
  return { outcome: rejected(accepted, answer.usage, call), retryFrom };
}

/** An answer this many times over the cap does not come within it by losing its false quotations. */
const LARGEST_ANSWER = 2;

/**
 * The prose of an answer: sentences that put words into the user's mouth go, those that name what the source does not know
 * are marked. It must be within its cap and smaller than what it stands for.
 */
async function checkProse(
  answer: string,
  request: SummaryRequest,
  usage: Usage | undefined,
): Promise<SummaryOutcome> {
  const { estimator, messages, previousSummary = '', maximumTokens } = request;
  const tooLarge = `the summary has more than the ${maximumTokens} tokens it may have; allow more, or summarise less at once`;
  // Before any quotation is looked up: that costs time for each of them.
  if (estimator.countText(answer) > maximumTokens * LARGEST_ANSWER)
    return failed('too-large', tooLarge, usage);
  const written = writeProse(readProse(answer));
  const truthful = dropFalseQuotes(written, await userWords(request));
  const prose = readProse(markUnverified(truthful, sourceTexts(request)));
  if (isBlank(`${prose.now}${prose.story}`)) return failed('empty', 'nothing in it could be kept', usage);
  const text = writeProse(prose);
  const tokens = estimator.countText(text);
  if (tokens > maximumTokens) return failed('too-large', tooLarge, usage);
  const source = estimator.countMessages(messages) + estimator.countText(previousSummary);
  if (tokens < source) return { status: 'summarized', text, usage };
  const message = `the summary has ${Math.round(tokens)} tokens, what it stands for has ${Math.round(source)}`;
  return failed('not-smaller', message, usage);
}

/** Only a prefix brings tools along. */
function hadTools({ request }: Call): boolean {
  return request.prefix !== undefined;
}

function final(outcome: SummaryOutcome): Attempt {
  return { outcome, retryFrom: undefined };
}

async function ask(
  client: ModelClient,
  options: ModelSummarizerOptions,
  { request, sizes }: Call,
): Promise<Completion | SummaryOutcome> {
  try {
    return await client.complete(request);
  } catch (error) {
    if (request.signal?.aborted === true) return failed('aborted', 'the run was aborted', undefined);
    if (!RoundfoldError.is(error) || error.code !== 'upstream') throw error;
    const message = [error.message, error.remedy ?? ''].join('. ').trim();
    const refusal = options.overflowOf(error.cause ?? error);
    if (refusal === undefined) return failed('upstream', message, usageIn(error.cause));
    const overflow = materialOverflow(refusal, sizes());
    return { ...failed('input-too-long', message, usageIn(error.cause)), overflow };
  }
}

/** What a call had cost before it failed, where its client knows. */
function usageIn(cause: unknown): Usage | undefined {
  const usage = isObject(cause) ? cause['usage'] : undefined;
  if (!isObject(usage) || !Object.hasOwn(usage, 'promptTokens')) return undefined;
  return { promptTokens: asCount(usage['promptTokens']), outputTokens: asCount(usage['outputTokens']) };
}

function rejected(
  { reason, message }: Rejection,
  usage: Usage | undefined,
  { request, sizes }: Call,
): SummaryOutcome {
  const outcome = failed(reason, message, usage);
  if (reason !== 'input-too-long') return outcome;
  return { ...outcome, overflow: answerOverflow(usage, request.maximumOutputTokens, sizes()) };
}

function failed(
  reason: SummaryFailure,
  message: string,
  usage: Usage | undefined,
): Extract<SummaryOutcome, { readonly status: 'failed' }> {
  return { status: 'failed', reason, message, usage };
}
