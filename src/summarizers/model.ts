import { addUsage } from '../core/add-usage.ts';
import { RoundfoldError } from '../core/errors.ts';
import { type Conversation, withMessages } from '../core/format.ts';
import { asCount, isObject } from '../core/json.ts';
import type { Usage } from '../core/message.ts';
import type { Completion, CompletionRequest, ModelClient } from '../core/model-client.ts';
import type { Summarizer, SummaryFailure, SummaryOutcome, SummaryRequest } from '../core/summarizer.ts';
import { linkTools } from '../core/tool-links.ts';
import { acceptAnswer, type Rejection } from './accept.ts';
import { writeItems } from './document.ts';
import { readItems } from './merge.ts';
import { SUMMARY_SYSTEM, summaryPrompt } from './prompt.ts';
import { renderTranscript } from './render-transcript.ts';
import { summaryRequestBudget } from './request-budget.ts';
import { writeSummary } from './write-summary.ts';

export interface ModelSummarizerOptions {
  /**
   * Whether what a provider sent, or a client's function threw, says that the request was too long: `(error) => parseOverflow(error) !== undefined`.
   * Such a failure is `input-too-long`, and the caller may try again with fewer messages.
   */
  readonly isOverflow: (error: unknown) => boolean;
  /**
   * Window of the summarizing model. A prompt that does not fit is not sent. Default 0: unlimited, so that only the
   * provider can tell.
   */
  readonly windowTokens?: number | undefined;
  /**
   * Sends the conversation as it stands with one instruction behind it, so that the provider's prompt cache is hit.
   * Wants a client of the conversation's own format and model. The tools stay in the request, and a model that calls one
   * all the same is asked again without them. Default false. Does nothing for a bare list of messages, and where a tool
   * call is still open.
   */
  readonly reusesPrefix?: boolean | undefined;
  /** Default: none is sent, since newer models refuse any. */
  readonly temperature?: number | undefined;
  /** Output tokens besides the summary, for a draft or for hidden reasoning. Default 1024. */
  readonly reserveTokens?: number | undefined;
}

/** Characters that stay of a tool result in the prompt, from the first choice to the last resort. */
const PART_LIMITS = [4000, 1000, 250];
/** A word is taken for two tokens: ids, paths and code are most of a summary. */
const WORDS_PER_TOKEN = 0.5;

/**
 * Lets a model write the summary. One call, and a second one, with a smaller input, when the answer was cut off, or when
 * it called a tool of the conversation's. Every expected failure is an outcome with what was spent.
 * @throws RoundfoldError `usage` when client and conversation do not fit together
 */
export function modelSummarizer(client: ModelClient, options: ModelSummarizerOptions): Summarizer {
  return {
    name: 'model',
    asksModel: true,
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

/** How one call differs from another. */
interface Terms {
  /** Index of the first part limit to try. */
  readonly partLimit: number;
  readonly reusesPrefix: boolean;
  /** The summary is asked for so many times shorter than it may be. */
  readonly shrink: number;
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
  if (call === undefined) {
    const message = `the messages do not fit the window of ${client.model}; summarise fewer at once`;
    return final(failed('input-too-long', message, undefined));
  }
  const answer = await ask(client, options, call.request);
  if ('status' in answer) return final(answer);
  const accepted = acceptAnswer(answer);
  if (accepted.reason === undefined) return final(writeSummary(accepted.text, request, answer.usage));
  const isRetried =
    accepted.reason === 'truncated' || (hadTools(call) && accepted.reason === 'called-a-tool');
  const retryFrom = isRetried ? call.smallerPartLimit() : undefined;
  return { outcome: rejected(accepted, answer.usage), retryFrom };
}

/** Only a prefix brings tools along. */
function hadTools({ request }: Call): boolean {
  return request.prefix !== undefined;
}

function final(outcome: SummaryOutcome): Attempt {
  return { outcome, retryFrom: undefined };
}

interface Call {
  readonly request: CompletionRequest;
  /** Index of a part limit that makes the prompt smaller; undefined when none does. */
  readonly smallerPartLimit: () => number | undefined;
}

/** The request within the window, with tool results as long as they fit; undefined when nothing fits. */
function writeCall(options: ModelSummarizerOptions, request: SummaryRequest, terms: Terms): Call | undefined {
  const wanted = request.maximumTokens + (options.reserveTokens ?? 1024);
  const budget = summaryRequestBudget(options.windowTokens ?? 0, wanted);
  const limits = {
    system: SUMMARY_SYSTEM,
    maximumOutputTokens: budget.outputTokens,
    temperature: options.temperature,
    signal: request.signal,
  };
  const asksBehind = terms.reusesPrefix && options.reusesPrefix === true;
  const behind = asksBehind ? askBehindPrefix(request, terms, budget.inputTokens) : undefined;
  const question = behind ?? askAboutTranscript(request, terms, budget.inputTokens);
  if (question === undefined) return undefined;
  const { smallerPartLimit, ...asked } = question;
  return { request: { ...limits, ...asked }, smallerPartLimit };
}

/** The part of a call that depends on how the conversation is shown. */
interface Question extends Pick<CompletionRequest, 'prompt' | 'prefix'>, Pick<Call, 'smallerPartLimit'> {}

function askBehindPrefix(request: SummaryRequest, terms: Terms, inputTokens: number): Question | undefined {
  const prefix = prefixOf(request);
  if (prefix === undefined) return undefined;
  const { estimator } = request;
  const prompt = promptFor(request, undefined, terms);
  const framed = estimator.countSystem(prefix.frame) + estimator.countTools(prefix.frame);
  const tokens = framed + estimator.countMessages(prefix.messages) + estimator.countText(prompt);
  return tokens <= inputTokens ? { prompt, prefix, smallerPartLimit: () => 0 } : undefined;
}

function askAboutTranscript(
  request: SummaryRequest,
  terms: Terms,
  inputTokens: number,
): Question | undefined {
  const { estimator, messages } = request;
  const room = inputTokens - estimator.countText(SUMMARY_SYSTEM);
  for (const [index, maximumPartCharacters] of PART_LIMITS.entries()) {
    if (index < terms.partLimit) continue;
    const transcript = renderTranscript(messages, { maximumPartCharacters });
    const prompt = promptFor(request, transcript, terms);
    if (estimator.countText(prompt) > room) continue;
    return { prompt, smallerPartLimit: () => smallerLimit(request, transcript) };
  }
  return undefined;
}

function smallerLimit(request: SummaryRequest, transcript: string): number | undefined {
  const index = PART_LIMITS.findIndex((maximumPartCharacters) => {
    const candidate = renderTranscript(request.messages, { maximumPartCharacters });
    return candidate.length < transcript.length;
  });
  return index < 0 ? undefined : index;
}

function promptFor(request: SummaryRequest, transcript: string | undefined, { shrink }: Terms): string {
  return summaryPrompt({
    transcript,
    previousSummary: writeItems(readItems(request.previousSummary ?? '')),
    instructions: request.instructions,
    facts: request.facts,
    maximumWords: Math.max(1, Math.floor((request.maximumTokens * WORDS_PER_TOKEN) / shrink)),
  });
}

/** The conversation up to the last message to be summarised; undefined where a question cannot stand behind it. */
function prefixOf({ conversation, messages }: SummaryRequest): Conversation | undefined {
  const last = messages.at(-1);
  const end = last === undefined ? -1 : conversation.messages.lastIndexOf(last);
  if (end < 0 || !isObject(conversation.frame.body)) return undefined;
  const prefix = conversation.messages.slice(0, end + 1);
  return linkTools(prefix).unanswered.length > 0 ? undefined : withMessages(conversation, prefix);
}

async function ask(
  client: ModelClient,
  options: ModelSummarizerOptions,
  request: CompletionRequest,
): Promise<Completion | SummaryOutcome> {
  try {
    return await client.complete(request);
  } catch (error) {
    if (request.signal?.aborted === true) return failed('aborted', 'the run was aborted', undefined);
    if (!RoundfoldError.is(error) || error.code !== 'upstream') throw error;
    const reason = options.isOverflow(error.cause ?? error) ? 'input-too-long' : 'upstream';
    return failed(reason, [error.message, error.remedy ?? ''].join('. ').trim(), usageIn(error.cause));
  }
}

/** What a call had cost before it failed, where its client knows. */
function usageIn(cause: unknown): Usage | undefined {
  const usage = isObject(cause) ? cause['usage'] : undefined;
  if (!isObject(usage) || !Object.hasOwn(usage, 'promptTokens')) return undefined;
  return { promptTokens: asCount(usage['promptTokens']), outputTokens: asCount(usage['outputTokens']) };
}

function rejected({ reason, message }: Rejection, usage: Usage | undefined): SummaryOutcome {
  return failed(reason, message, usage);
}

function failed(reason: SummaryFailure, message: string, usage: Usage | undefined): SummaryOutcome {
  return { status: 'failed', reason, message, usage };
}
