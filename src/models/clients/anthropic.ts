import { asCount, asList, asString, isObject, type JsonObject } from '../../core/json.ts';
import type { Usage } from '../../core/message.ts';
import type { Completion, CompletionRequest, CompletionStop, ModelClient } from '../../core/model-client.ts';
import type { HttpClientOptions } from './client-options.ts';
import { postJson } from './post-json.ts';
import { prefixBody } from './prefix-body.ts';
import { upstreamError } from './upstream-error.ts';

const PROVIDER = 'the Anthropic API';
const BASE_URL = 'https://api.anthropic.com';
/** This version still takes a temperature where the model does. A header of the caller's may name another. */
const VERSION = '2023-06-01';

/** `cache_control` stays: with it the prefix is found and written as in the conversation's own requests. */
const prefixFormat = {
  format: 'anthropic-messages',
  dropped: new Set(['stream', 'stop_sequences', 'tool_choice']),
};

const stops: ReadonlyMap<unknown, CompletionStop> = new Map<unknown, CompletionStop>([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool-call'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context-full'],
]);

/** A client of the Anthropic Messages API. Plain requests, no streaming, no retries. */
export function anthropicClient(options: HttpClientOptions): ModelClient {
  const endpoint = { provider: PROVIDER, baseUrl: stemOf(options.baseUrl ?? BASE_URL), options };
  const key: Record<string, string> = options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey };
  return {
    model: options.model,
    async complete(request) {
      const body = { ...bodyOf(request), model: options.model };
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
  const body = prefixBody(prefix, prompt, prefixFormat);
  const forbidden = prefix.frame.tools.length === 0 ? {} : { tool_choice: { type: 'none' } };
  const limit = { max_tokens: thinkingTokens(body) + maximumOutputTokens };
  return { ...body, ...withoutSchema(body), ...sampling, ...forbidden, ...limit };
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
  if (!isObject(body) || !Array.isArray(body['content'])) throw upstreamError(PROVIDER, 200, body);
  const blocks = asList(body['content']).filter(isObject);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => asString(block['text']));
  const callsTool = blocks.some((block) => block['type'] === 'tool_use');
  return {
    text: texts.join(''),
    stop: callsTool ? 'tool-call' : (stops.get(body['stop_reason']) ?? 'other'),
    usage: readUsage(body['usage']),
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
