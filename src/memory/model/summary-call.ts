import { type Conversation, withMessages } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import { linkTools } from '../../conversation/tool-links.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import type { SummaryRequest } from '../summary-request.ts';
import type { CompletionRequest } from './model-client.ts';
import { SUMMARY_SYSTEM, summaryPrompt } from './prompt.ts';
import { renderTranscript } from './render-transcript.ts';

/** How a model is asked for summaries. */
export interface ModelSummarizerOptions {
  /**
   * What an error that a provider sent, or a client's function threw, says about size: `parseOverflow`. Undefined when it
   * is about something else. Such a failure is `input-too-long`, with the numbers by which the caller may try again with
   * fewer messages.
   */
  readonly overflowOf: (error: unknown) => OverflowFacts | undefined;
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

/** How the window of a summarizing model is divided. */
export interface SummaryRequestBudget {
  /** The whole prompt, everything around the material included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly marginTokens: number;
}

const MARGIN = { least: 512, most: 4096, share: 1 / 20 };
const LEAST_OUTPUT = 512;
const LEAST_INPUT = 256;

/**
 * Divides a window: a twentieth (512 to 4096 tokens) is margin, the answer gets what it wants up to a third of the rest,
 * the prompt gets what remains. A window of 0 or less is unlimited.
 */
export function summaryRequestBudget(windowTokens: number, wantedOutputTokens: number): SummaryRequestBudget {
  if (windowTokens <= 0) {
    return { inputTokens: Number.POSITIVE_INFINITY, outputTokens: wantedOutputTokens, marginTokens: 0 };
  }
  const share = Math.floor(windowTokens * MARGIN.share);
  const marginTokens = Math.min(Math.max(share, MARGIN.least), MARGIN.most);
  const third = Math.floor((windowTokens - marginTokens) / 3);
  const outputTokens = Math.min(wantedOutputTokens, Math.max(LEAST_OUTPUT, third));
  const inputTokens = Math.max(LEAST_INPUT, windowTokens - outputTokens - marginTokens);
  return { inputTokens, outputTokens, marginTokens };
}

/** Characters that stay of a tool result in the prompt, from the first choice to the last resort. */
const PART_LIMITS = [4000, 1000, 250];
/** A word is taken for two tokens: ids, paths and code are most of a summary. */
const WORDS_PER_TOKEN = 0.5;

/** How one call differs from another. */
export interface Terms {
  /** Index of the first part limit to try. */
  readonly partLimit: number;
  readonly reusesPrefix: boolean;
  /** How many times shorter than its limit the summary is asked to be. */
  readonly shrink: number;
}

/** A request to a model that fits its window. */
export interface Call {
  readonly request: CompletionRequest;
  /** Index of a part limit that makes the prompt smaller; undefined when none does. */
  readonly smallerPartLimit: () => number | undefined;
  readonly sizes: () => PromptSizes;
}

/** Why there is no call. */
interface TooLong {
  readonly overflow: OverflowFacts;
}

/** The request within the window, with tool results as long as they fit. */
export function writeCall(
  options: Omit<ModelSummarizerOptions, 'overflowOf'>,
  request: SummaryRequest,
  terms: Terms,
): Call | TooLong {
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
  if ('overflow' in question) return question;
  const { smallerPartLimit, sizes, ...asked } = question;
  return { request: { ...limits, ...asked }, smallerPartLimit, sizes };
}

/** The part of a call that depends on how the conversation is shown. */
interface Question
  extends Pick<CompletionRequest, 'prompt' | 'prefix'>,
    Pick<Call, 'smallerPartLimit' | 'sizes'> {}

function askBehindPrefix(request: SummaryRequest, terms: Terms, inputTokens: number): Question | undefined {
  const prefix = prefixOf(request);
  if (prefix === undefined) return undefined;
  const { estimator } = request;
  const prompt = promptFor(request, undefined, terms);
  const framed = estimator.countSystem(prefix.frame) + estimator.countTools(prefix.frame);
  const promptTokens = framed + estimator.countMessages(prefix.messages) + estimator.countText(prompt);
  if (promptTokens > inputTokens) return undefined;
  const sizes = () => ({ promptTokens, materialTokens: estimator.countMessages(request.messages) });
  return { prompt, prefix, smallerPartLimit: () => 0, sizes };
}

function askAboutTranscript(request: SummaryRequest, terms: Terms, inputTokens: number): Question | TooLong {
  const { estimator, messages } = request;
  let smallest: PromptSizes = { promptTokens: 0, materialTokens: 0 };
  for (const maximumPartCharacters of PART_LIMITS.slice(terms.partLimit)) {
    const transcript = renderTranscript(messages, { maximumPartCharacters });
    const prompt = promptFor(request, transcript, terms);
    const promptTokens = estimator.countText(SUMMARY_SYSTEM) + estimator.countText(prompt);
    const sizes = () => ({ promptTokens, materialTokens: estimator.countText(transcript) });
    if (promptTokens <= inputTokens)
      return { prompt, sizes, smallerPartLimit: () => smallerLimit(request, transcript) };
    smallest = sizes();
  }
  return { overflow: promptOverflow(smallest, inputTokens) };
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
    previousSummary: request.previousSummary,
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

/** The prompt of a summary in estimated tokens. */
export interface PromptSizes {
  readonly promptTokens: number;
  /** The part of it that is the messages; the rest is the same however few of them there are. */
  readonly materialTokens: number;
}

/**
 * What the refusal of a prompt means for the messages in it: instructions, facts and an earlier summary cannot leave, so
 * that all that is too much has to come from the messages. What the provider left open is estimated.
 */
export function materialOverflow(refusal: OverflowFacts, sizes: PromptSizes): OverflowFacts {
  const { kind, actualTokens, limitTokens, requestedOutputTokens = 0, countIsLowerBound } = refusal;
  const isCounted = actualTokens !== undefined && countIsLowerBound !== true;
  const estimatedExcess =
    limitTokens === undefined ? 0 : sizes.promptTokens + requestedOutputTokens - limitTokens;
  const excess = refusal.excessTokens ?? estimatedExcess;
  return overflowOfMaterial(kind, isCounted ? actualTokens : sizes.promptTokens, excess, sizes);
}

/** A prompt that was not sent, because no more than `inputTokens` fit the window. */
export function promptOverflow(sizes: PromptSizes, inputTokens: number): OverflowFacts {
  const excess = sizes.promptTokens - inputTokens;
  return overflowOfMaterial('prompt-too-long', sizes.promptTokens, excess, sizes);
}

/** The window was full before the answer had come to its end: what it still wanted is too much. */
export function answerOverflow(
  usage: Usage | undefined,
  maximumOutputTokens: number,
  sizes: PromptSizes,
): OverflowFacts {
  const promptTokens = usage?.promptTokens ?? sizes.promptTokens;
  const excess = usage === undefined ? 0 : maximumOutputTokens - usage.outputTokens;
  return overflowOfMaterial('soft', promptTokens, excess, sizes);
}

function overflowOfMaterial(
  kind: string,
  promptTokens: number,
  excessTokens: number,
  sizes: PromptSizes,
): OverflowFacts {
  const actualTokens = (promptTokens * sizes.materialTokens) / Math.max(1, sizes.promptTokens);
  if (excessTokens <= 0) return { kind, actualTokens };
  return { kind, actualTokens, limitTokens: Math.max(0, actualTokens - excessTokens), excessTokens };
}
