import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Overflow } from './detect.ts';

/** What is known about an answer that came with HTTP 200. Everything is optional; what is unknown shows nothing. */
export interface Answer {
  /** Stop or finish reason as the provider spelt it. */
  readonly stopReason?: string | undefined;
  /** The whole prompt as the provider counted it, cached tokens included. */
  readonly promptTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Whether there was any text, call or other content. False for a stream that ended without a delta. */
  readonly hasContent?: boolean | undefined;
  /** Our own count of the prompt that was sent. */
  readonly estimatedPromptTokens?: number | undefined;
  readonly windowTokens?: number | undefined;
}

/** One way in which a successful answer shows that the context was full or cut. */
interface SoftSign {
  /** Who is known for it; `any` when several are. */
  readonly provider: string;
  readonly message: string;
  shows(answer: Answer): boolean;
}

const fullWindowReasons = new Set(['model_context_window_exceeded', 'context_length_exceeded']);
const lengthReasons = new Set(['length', 'max_tokens', 'max_output_tokens']);

// A prompt this close to the window leaves no room for an answer, or was cut to just this size.
const fullShare = 0.98;
// No estimator is off by half; below this many tokens templates and rounding could be.
const cutShare = 0.5;
const smallestJudgedEstimate = 1000;
// How far our estimate must exceed the window before we believe it more than a count that fits.
const estimateMargin = 1.25;

/** In the order in which they are tried. Another sign is another row. */
export const softSigns: readonly SoftSign[] = [
  {
    provider: 'anthropic',
    message: 'the answer stopped because the context window was full',
    shows: ({ stopReason }) => stopReason !== undefined && fullWindowReasons.has(stopReason.toLowerCase()),
  },
  {
    provider: 'any',
    message: 'the answer stopped at its length limit before the first token',
    // Reasoning models may spend the whole limit on hidden tokens: those are counted, and no sign of a full window.
    shows: ({ stopReason = '', hasContent, outputTokens = 0 }) =>
      lengthReasons.has(stopReason.toLowerCase()) && hasContent === false && outputTokens === 0,
  },
  {
    provider: 'lm-studio',
    message: 'the stream ended without any content and without a stop reason',
    shows: ({ stopReason, hasContent, outputTokens = 0 }) =>
      hasContent === false && stopReason === undefined && outputTokens === 0,
  },
  {
    provider: 'ollama',
    message: 'the provider counted far fewer prompt tokens than were sent',
    shows: ({ promptTokens = 0, estimatedPromptTokens = 0 }) =>
      promptTokens > 0 &&
      estimatedPromptTokens >= smallestJudgedEstimate &&
      promptTokens < estimatedPromptTokens * cutShare,
  },
  {
    provider: 'ollama',
    message: 'a prompt larger than the window was answered as if it had fitted',
    shows: ({ promptTokens = 0, estimatedPromptTokens = 0, windowTokens = 0 }) =>
      windowTokens > 0 &&
      promptTokens > 0 &&
      promptTokens <= windowTokens &&
      estimatedPromptTokens > windowTokens * estimateMargin,
  },
  {
    provider: 'any',
    message: 'the prompt filled the context window',
    shows: ({ promptTokens = 0, windowTokens = 0 }) =>
      windowTokens > 0 && promptTokens >= windowTokens * fullShare,
  },
];

/**
 * Whether a successful answer shows that the context was full or silently cut. Undefined for an ordinary answer. The
 * excess is known only when a count, the provider's or ours, exceeds the window.
 */
export function detectSoftOverflow(answer: Answer): Overflow | undefined {
  const sign = softSigns.find((candidate) => candidate.shows(answer));
  if (sign === undefined) return undefined;
  const { promptTokens, estimatedPromptTokens = 0, windowTokens } = answer;
  const excess =
    windowTokens === undefined ? 0 : Math.max(promptTokens ?? 0, estimatedPromptTokens) - windowTokens;
  return {
    kind: 'soft',
    provider: sign.provider,
    actualTokens: promptTokens,
    limitTokens: windowTokens,
    excessTokens: excess > 0 ? excess : undefined,
    message: sign.message,
  };
}

/**
 * Reads the signs of a soft overflow from a complete response body: Anthropic Messages, OpenAI Chat and Responses
 * (also the payload of its closing event), Gemini, Ollama's own API. Gives no signs for any other shape.
 */
export function readAnswer(body: unknown): Answer {
  if (!isObject(body)) return {};
  const response = isObject(body['response']) ? body['response'] : body;
  if (body['type'] === 'message') return readMessages(body);
  if (Array.isArray(body['choices'])) return readChat(body, toObject(body['choices'][0]));
  if (response['object'] === 'response') return readResponses(response);
  if (Array.isArray(body['candidates'])) return readGemini(body, toObject(body['candidates'][0]));
  return typeof body['done'] === 'boolean' ? readOllama(body) : {};
}

function readMessages({ usage, stop_reason: reason, content }: JsonObject): Answer {
  return {
    stopReason: toReason(reason),
    promptTokens: total(usage, ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']),
    outputTokens: total(usage, ['output_tokens']),
    hasContent: asList(content).length > 0,
  };
}

function readChat({ usage }: JsonObject, choice: JsonObject): Answer {
  const message = toObject(choice['message']);
  const parts = ['content', 'tool_calls', 'refusal', 'reasoning_content'];
  return {
    stopReason: toReason(choice['finish_reason']),
    promptTokens: total(usage, ['prompt_tokens']),
    outputTokens: total(usage, ['completion_tokens']),
    hasContent: parts.some((key) => isFilled(message[key])),
  };
}

function readResponses({ usage, status, incomplete_details: details, output }: JsonObject): Answer {
  return {
    stopReason: toReason(toObject(details)['reason']) ?? toReason(status),
    promptTokens: total(usage, ['input_tokens']),
    outputTokens: total(usage, ['output_tokens']),
    hasContent: asList(output).length > 0,
  };
}

function readGemini({ usageMetadata: usage }: JsonObject, candidate: JsonObject): Answer {
  return {
    stopReason: toReason(candidate['finishReason']),
    promptTokens: total(usage, ['promptTokenCount']),
    outputTokens: total(usage, ['candidatesTokenCount', 'thoughtsTokenCount']),
    hasContent: asList(toObject(candidate['content'])['parts']).length > 0,
  };
}

function readOllama(body: JsonObject): Answer {
  const message = toObject(body['message']);
  return {
    stopReason: toReason(body['done_reason']),
    promptTokens: total(body, ['prompt_eval_count']),
    outputTokens: total(body, ['eval_count']),
    hasContent: [message['content'], message['tool_calls'], body['response']].some(isFilled),
  };
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function toReason(value: unknown): string | undefined {
  return asString(value) || undefined;
}

function isFilled(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}

/** The sum of these counts, or undefined when the provider reported none of them. */
function total(usage: unknown, keys: readonly string[]): number | undefined {
  const counts = keys.map((key) => toObject(usage)[key]).filter((count) => typeof count === 'number');
  return counts.length === 0 ? undefined : counts.map(asCount).reduce((sum, count) => sum + count, 0);
}
