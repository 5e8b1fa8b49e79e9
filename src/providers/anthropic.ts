import { asCount, asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type {
  Completion,
  CompletionRequest,
  CompletionStop,
  ModelClient,
} from '../memory/model/model-client.ts';
import { assembleMessage } from './anthropic-stream.ts';
import { markPrefixEnd } from './cache-marker.ts';
import type { HttpClientOptions } from './client-options.ts';
import { postJson } from './post-json.ts';
import { prefixBody } from './prefix-body.ts';
import { upstreamError } from './upstream-error.ts';

const PROVIDER = 'the Anthropic API';
const BASE_URL = 'https://api.anthropic.com';
/** This version still takes a temperature where the model does. A header of the caller's may name another. */
const VERSION = '2023-06-01';

const prefixFormat = {
  format: 'anthropic-messages',
  dropped: new Set(['stream', 'stop_sequences']),
};

const stops: ReadonlyMap<unknown, CompletionStop> = new Map<unknown, CompletionStop>([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool-call'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context-full'],
]);

/** A client of the Anthropic Messages API. No retries. */
export function anthropicClient(options: HttpClientOptions): ModelClient {
  const baseUrl = stemOf(options.baseUrl ?? BASE_URL);
  const endpoint = { provider: PROVIDER, baseUrl, options, assemble: assembleMessage };
  const streaming = options.streams === true ? { stream: true } : {};
  const key: Record<string, string> = options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey };
  return {
    model: options.model,
    async complete(request) {
      const body = { ...bodyOf(request), model: options.model, ...streaming };
      const headers = { ...key, 'anthropic-version': VERSION };
      const answer = await postJson(endpoint, {
        path: '/v1/messages',
        headers,
        body,
        signal: request.signal,
      });
      return decode(answer);
    },
  };
}

/** People write the base URL with and without the version. */
function stemOf(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '');
}

function bodyOf(request: CompletionRequest): JsonObject {
  const { system, prompt, prefix, maximumOutputTokens, temperature } = request;
  const sampling = temperature === undefined ? {} : { temperature };
  if (prefix === undefined) {
    const messages = [{ role: 'user', content: prompt }];
    return { system, messages, max_tokens: maximumOutputTokens, ...sampling };
  }
  const body = markPrefixEnd(prefixBody(prefix, prompt, prefixFormat), prefix);
  const limit = { max_tokens: thinkingTokens(body) + maximumOutputTokens };
  return { ...body, ...withoutSchema(body), ...sampling, ...withoutForce(body), ...limit };
}

/**
 * Messages are cached under the choice of tools, so it stays as it is, and the prompt alone forbids to call one. Only a
 * choice that leaves no way but to call is replaced.
 */
function withoutForce({ tool_choice: choice }: JsonObject): JsonObject {
  const isForced = isObject(choice) && (choice['type'] === 'any' || choice['type'] === 'tool');
  return isForced ? { tool_choice: { type: 'none' } } : {};
}

/** A schema would force JSON. The effort beside it stays, since to change it would empty the cache. */
function withoutSchema(body: JsonObject): JsonObject {
  if (!isObject(body['output_config'])) return {};
  const { format: _schema, ...kept } = body['output_config'];
  return { output_config: kept };
}

/** Thinking counts as output. To change its budget would empty the cache, so it comes on top. */
function thinkingTokens(body: JsonObject): number {
  return isObject(body['thinking']) ? asCount(body['thinking']['budget_tokens']) : 0;
}

function decode(body: unknown): Completion {
  const usage = isObject(body) ? readUsage(body['usage']) : undefined;
  // A stream may fail after it has begun.
  const hasFailed = !isObject(body) || isObject(body['error']) || !Array.isArray(body['content']);
  if (hasFailed) throw upstreamError(PROVIDER, 200, body, usage);
  const blocks = asList(body['content']).filter(isObject);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => asString(block['text']));
  const callsTool = blocks.some((block) => block['type'] === 'tool_use');
  return {
    text: texts.join(''),
    stop: callsTool ? 'tool-call' : (stops.get(body['stop_reason']) ?? 'other'),
    usage,
  };
}

/** What was read from and written to the cache is not part of `input_tokens`. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const cached = asCount(usage['cache_creation_input_tokens']) + asCount(usage['cache_read_input_tokens']);
  return {
    promptTokens: asCount(usage['input_tokens']) + cached,
    outputTokens: asCount(usage['output_tokens']),
  };
}
