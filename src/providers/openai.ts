import { asCount, asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type {
  Completion,
  CompletionRequest,
  CompletionStop,
  ModelClient,
} from '../memory/model/model-client.ts';
import type { HttpClientOptions } from './client-options.ts';
import { assembleCompletion } from './openai-stream.ts';
import { postJson } from './post-json.ts';
import { prefixBody } from './prefix-body.ts';
import { upstreamError } from './upstream-error.ts';

/** The field that limits the answer. */
export type OutputLimitField = 'max_tokens' | 'max_completion_tokens';

/** Options of the client for everything that speaks OpenAI Chat Completions. */
export interface OpenaiClientOptions extends HttpClientOptions {
  /**
   * Default: `max_completion_tokens` for OpenAI and Azure, whose reasoning models take nothing else; `max_tokens` for
   * everybody else, since some compatible servers know nothing else.
   */
  readonly outputLimitField?: OutputLimitField | undefined;
}

const PROVIDER = 'the OpenAI-compatible API';
const BASE_URL = 'https://api.openai.com/v1';

const prefixFormat = {
  format: 'openai-chat',
  dropped: new Set([
    'stream',
    'stream_options',
    'stop',
    'n',
    'response_format',
    'max_tokens',
    'max_completion_tokens',
    // Refused unless there are tools to choose from, and it is set anew when there are.
    'tool_choice',
    'function_call',
  ]),
};

const stops: ReadonlyMap<unknown, CompletionStop> = new Map<unknown, CompletionStop>([
  ['stop', 'end'],
  ['eos', 'end'],
  ['eos_token', 'end'],
  ['stop_sequence', 'end'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'tool-call'],
  ['function_call', 'tool-call'],
  ['content_filter', 'refusal'],
  ['model_context_window_exceeded', 'context-full'],
]);

/**
 * A client of any server that speaks OpenAI Chat Completions: OpenAI, OpenRouter, vLLM, llama.cpp, Ollama, LM Studio.
 * `baseUrl` includes the version (`http://localhost:11434/v1`). No retries.
 */
export function openaiClient(options: OpenaiClientOptions): ModelClient {
  const baseUrl = options.baseUrl ?? BASE_URL;
  const endpoint = { provider: PROVIDER, baseUrl, options, assemble: assembleCompletion };
  const limitField = options.outputLimitField ?? limitFieldFor(baseUrl);
  const headers: Record<string, string> =
    options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
  return {
    model: options.model,
    async complete(request) {
      const body = {
        ...bodyOf(request),
        model: options.model,
        [limitField]: request.maximumOutputTokens,
        ...(options.streams === true ? { stream: true, stream_options: { include_usage: true } } : {}),
      };
      const { signal } = request;
      return decode(await postJson(endpoint, { path: '/chat/completions', headers, body, signal }));
    },
  };
}

function limitFieldFor(baseUrl: string): OutputLimitField {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  return /(?:^|\.)(?:openai|azure)\.com$/.test(host) ? 'max_completion_tokens' : 'max_tokens';
}

function bodyOf({ system, prompt, prefix, temperature }: CompletionRequest): JsonObject {
  const sampling = temperature === undefined ? {} : { temperature };
  if (prefix === undefined) {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: prompt },
    ];
    return { messages, ...sampling };
  }
  const body = prefixBody(prefix, prompt, prefixFormat);
  return { ...body, ...sampling, ...forbidTools(body) };
}

function forbidTools(body: JsonObject): JsonObject {
  if (asList(body['tools']).length > 0) return { tool_choice: 'none' };
  return asList(body['functions']).length > 0 ? { function_call: 'none' } : {};
}

function decode(body: unknown): Completion {
  const choice = isObject(body) ? asList(body['choices'])[0] : undefined;
  // OpenRouter reports what failed behind it with HTTP 200: `error` in the body, or in the choice.
  const usage = isObject(body) ? readUsage(body['usage']) : undefined;
  if (!isObject(body) || isObject(body['error'])) throw upstreamError(PROVIDER, 200, body, usage);
  if (!isObject(choice) || isObject(choice['error']) || !isObject(choice['message'])) {
    throw upstreamError(PROVIDER, 200, isObject(choice) ? choice : body, usage);
  }
  const { message } = choice;
  return {
    text: textOf(message['content']),
    stop: stopOf(message, choice['finish_reason']),
    usage,
  };
}

function stopOf(message: JsonObject, reason: unknown): CompletionStop {
  if (asList(message['tool_calls']).length > 0 || isObject(message['function_call'])) return 'tool-call';
  if (typeof message['refusal'] === 'string' && message['refusal'] !== '') return 'refusal';
  return stops.get(reason) ?? 'other';
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = asList(content)
    .filter(isObject)
    .filter((part) => part['type'] === 'text');
  return parts.map((part) => asString(part['text'])).join('');
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  return {
    promptTokens: asCount(usage['prompt_tokens']),
    outputTokens: asCount(usage['completion_tokens']),
  };
}
