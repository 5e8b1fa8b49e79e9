import { asCount, asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type {
  Completion,
  CompletionRequest,
  CompletionStop,
  ModelClient,
} from '../memory/model/model-client.ts';
import { markPrefixEnd } from './cache-marker.ts';
import { type AnswerEvent, tryParseJson } from './event-stream.ts';
import { type AskOptions, type HttpClientOptions, postJson, upstreamError } from './http.ts';
import { prefixBody } from './prefix-body.ts';

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

/** An answer of the Messages API, as it goes into the list of messages. */
export interface AnsweredMessage {
  /** The whole message: texts, calls with their input, thinking with its signature. */
  readonly message: JsonObject;
  readonly usage: Usage | undefined;
}

/**
 * Sends a body to the Messages API. A streamed answer is put together to what it would have been in one piece.
 * @throws RoundfoldError `upstream` when the provider cannot be reached, refuses or answers with no message
 */
export async function askAnthropic(
  options: HttpClientOptions,
  body: JsonObject,
  { signal, onText }: AskOptions,
): Promise<AnsweredMessage> {
  const key: Record<string, string> = options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey };
  const answer = await postJson(
    { provider: PROVIDER, baseUrl: stemOf(options.baseUrl ?? BASE_URL), options, assemble: assembleMessage },
    {
      path: '/v1/messages',
      headers: { ...key, 'anthropic-version': VERSION },
      body: options.streams === true ? { ...body, stream: true } : body,
      signal,
      onEvent: onText && (({ delta }) => onText(deltaText(delta))),
    },
  );
  const usage = isObject(answer) ? readUsage(answer['usage']) : undefined;
  // A stream may fail after it has begun.
  const hasFailed = !isObject(answer) || isObject(answer['error']) || !Array.isArray(answer['content']);
  if (hasFailed) throw upstreamError(PROVIDER, 200, answer, usage);
  return { message: answer, usage };
}

function deltaText(delta: unknown): string {
  return isObject(delta) && delta['type'] === 'text_delta' ? (asString(delta['text']) ?? '') : '';
}

/** A client of the Anthropic Messages API. No retries. */
export function anthropicClient(options: HttpClientOptions): ModelClient {
  return {
    model: options.model,
    async complete(request) {
      const body = { ...bodyOf(request), model: options.model };
      return decode(await askAnthropic(options, body, { signal: request.signal }));
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

function decode({ message, usage }: AnsweredMessage): Completion {
  const blocks = asList(message['content']).filter(isObject);
  const texts = blocks.filter((block) => block['type'] === 'text').map((block) => asString(block['text']));
  const callsTool = blocks.some((block) => block['type'] === 'tool_use');
  return {
    text: texts.join(''),
    stop: callsTool ? 'tool-call' : (stops.get(message['stop_reason']) ?? 'other'),
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

/**
 * A streamed message as it would have come in one piece. One that was cut off has no stop reason; one that failed on the
 * way is its error, with the usage that was reported before.
 */
function assembleMessage(events: readonly AnswerEvent[]): JsonObject {
  const usage = usageOf(events);
  const failure = events.find(({ type, data }) => type === 'error' || isObject(data['error']));
  if (failure !== undefined) return { ...failure.data, usage };
  const beginning = fieldsOf(events, 'message_start', 'message');
  const ending = fieldsOf(events, 'message_delta', 'delta');
  const content = contentOf(events);
  // Without a beginning and without a single block it was no message.
  if (beginning === undefined && content.length === 0) return { usage };
  return { ...beginning, ...ending, content, usage };
}

/** What the start reports of the prompt stays true; the end counts the output. */
function usageOf(events: readonly AnswerEvent[]): JsonObject | undefined {
  const reports = events.flatMap(({ data }) => {
    const started = isObject(data['message']) ? data['message']['usage'] : undefined;
    return [started, data['usage']].filter(isObject);
  });
  return reports.length === 0 ? undefined : Object.fromEntries(reports.flatMap(Object.entries));
}

/** A field of the newest event of a type. */
function fieldsOf(events: readonly AnswerEvent[], type: string, field: string): JsonObject | undefined {
  const value = events.findLast((event) => event.type === type)?.data[field];
  return isObject(value) ? value : undefined;
}

/** The blocks with everything that a next request has to give back: calls with their input, thinking with its signature. */
function contentOf(events: readonly AnswerEvent[]): readonly JsonObject[] {
  const blocks = new Map<unknown, JsonObject>();
  for (const { type, data } of events) {
    const { index, content_block: block, delta } = data;
    if (type === 'content_block_start' && isObject(block)) blocks.set(index, block);
    if (type === 'content_block_delta' && isObject(delta))
      blocks.set(index, grown(blocks.get(index) ?? { type: 'text' }, delta));
  }
  return [...blocks.values()].map(withInput);
}

/** What a delta adds to its block, by the field that both have. */
function grown(block: JsonObject, delta: JsonObject): JsonObject {
  const added = ['text', 'thinking', 'signature', 'partial_json'].find(
    (name) => asString(delta[name]) !== undefined,
  );
  if (added === undefined) return block;
  return { ...block, [added]: `${asString(block[added]) ?? ''}${asString(delta[added])}` };
}

function withInput(block: JsonObject): JsonObject {
  const { partial_json: written, ...rest } = block;
  if (typeof written !== 'string') return block;
  const input = tryParseJson(written);
  return { ...rest, input: isObject(input) ? input : {} };
}
