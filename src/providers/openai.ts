import { asCount, asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import type {
  Completion,
  CompletionRequest,
  CompletionStop,
  ModelClient,
} from '../memory/model/model-client.ts';
import type { AnswerEvent } from './event-stream.ts';
import { type AskOptions, type HttpClientOptions, postJson, upstreamError } from './http.ts';
import { prefixBody } from './prefix-body.ts';

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

/** An answer of Chat Completions: its first choice. */
export interface AnsweredChoice {
  readonly choice: JsonObject & { readonly message: JsonObject };
  readonly usage: Usage | undefined;
}

/**
 * Sends a body to a server that speaks Chat Completions. A streamed answer is put together to what it would have been in one
 * piece.
 * @throws RoundfoldError `upstream` when the server cannot be reached, refuses or answers with no message
 */
export async function askOpenai(
  options: HttpClientOptions,
  body: JsonObject,
  { signal, onText }: AskOptions,
): Promise<AnsweredChoice> {
  const headers: Record<string, string> =
    options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };
  const streaming = options.streams === true ? { stream: true, stream_options: { include_usage: true } } : {};
  const answer = await postJson(
    { provider: PROVIDER, baseUrl: options.baseUrl ?? BASE_URL, options, assemble: assembleCompletion },
    {
      path: '/chat/completions',
      headers,
      body: { ...body, ...streaming },
      signal,
      onEvent: onText && ((data) => onText(deltaText(data))),
    },
  );
  return readChoice(answer);
}

function deltaText({ choices }: JsonObject): string {
  const [choice] = asList(choices);
  const delta = isObject(choice) ? choice['delta'] : undefined;
  return isObject(delta) ? (asString(delta['content']) ?? '') : '';
}

function readChoice(body: unknown): AnsweredChoice {
  const choice = isObject(body) ? asList(body['choices'])[0] : undefined;
  const usage = isObject(body) ? readUsage(body['usage']) : undefined;
  // OpenRouter reports what failed behind it with HTTP 200: `error` in the body, or in the choice.
  if (!isObject(body) || isObject(body['error'])) throw upstreamError(PROVIDER, 200, body, usage);
  if (!isObject(choice) || isObject(choice['error']) || !isObject(choice['message'])) {
    throw upstreamError(PROVIDER, 200, isObject(choice) ? choice : body, usage);
  }
  return { choice: { ...choice, message: choice['message'] }, usage };
}

/**
 * A client of any server that speaks OpenAI Chat Completions: OpenAI, OpenRouter, vLLM, llama.cpp, Ollama, LM Studio.
 * `baseUrl` includes the version (`http://localhost:11434/v1`). No retries.
 */
export function openaiClient(options: OpenaiClientOptions): ModelClient {
  const limitField = options.outputLimitField ?? limitFieldFor(options.baseUrl ?? BASE_URL);
  return {
    model: options.model,
    async complete(request) {
      const body = { ...bodyOf(request), model: options.model, [limitField]: request.maximumOutputTokens };
      return decode(await askOpenai(options, body, { signal: request.signal }));
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

function decode({ choice, usage }: AnsweredChoice): Completion {
  const { message } = choice;
  return { text: textOf(message['content']), stop: stopOf(message, choice['finish_reason']), usage };
}

function stopOf(message: JsonObject, reason: unknown): CompletionStop {
  if (asList(message['tool_calls']).length > 0 || isObject(message['function_call'])) return 'tool-call';
  if (typeof message['refusal'] === 'string' && message['refusal'] !== '') return 'refusal';
  return stops.get(reason) ?? 'other';
}

/** Text comes bare or in parts. */
export function textOf(content: unknown): string {
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

/**
 * A streamed completion as it would have come in one piece: its first choice. One that was cut off has no finish reason;
 * one that failed on the way is its error, with the usage that was reported before.
 */
function assembleCompletion(events: readonly AnswerEvent[]): JsonObject {
  let content: unknown[] = [];
  let message: JsonObject | undefined;
  let finishReason: unknown = null;
  let usage: unknown;
  for (const { data } of events) {
    // Reported once at the end, or with every chunk, growing.
    usage = data['usage'] ?? usage;
    const choice = asList(data['choices']).find(isFirst);
    const error = data['error'] ?? choice?.['error'];
    if (isObject(error)) return { error, usage };
    if (choice === undefined) continue;
    finishReason = choice['finish_reason'] ?? finishReason;
    // Some servers send the whole message in place of a delta, alone or after all of them.
    if (!isObject(choice['delta']) && isObject(choice['message'])) content = [];
    const piece = choice['delta'] ?? choice['message'];
    if (isObject(piece)) content.push(...partsOf(piece['content']));
    message = { ...message, ...signsIn(piece) };
  }
  // Without a single choice it was no completion.
  if (message === undefined) return { usage };
  const calls = wholeCalls(events);
  const called = calls.length === 0 ? {} : { tool_calls: calls };
  return { choices: [{ message: { ...message, content, ...called }, finish_reason: finishReason }], usage };
}

/** Calls come in pieces, each under the number of its call. */
function wholeCalls(events: readonly AnswerEvent[]): readonly JsonObject[] {
  const calls = new Map<number, JsonObject>();
  for (const { data } of events) {
    const delta = asList(data['choices']).find(isFirst)?.['delta'];
    const pieces = isObject(delta) ? asList(delta['tool_calls']).filter(isObject) : [];
    for (const piece of pieces) addPiece(calls, piece);
  }
  return [...calls.values()];
}

function addPiece(calls: Map<number, JsonObject>, piece: JsonObject): void {
  const index = asCount(piece['index']);
  const begun = calls.get(index);
  const before = isObject(begun?.['function']) ? begun['function'] : {};
  const added = isObject(piece['function']) ? piece['function'] : {};
  calls.set(index, {
    id: asString(begun?.['id']) ?? asString(piece['id']) ?? `call_${index}`,
    type: 'function',
    function: {
      name: asString(before['name']) ?? asString(added['name']) ?? '',
      arguments: `${asString(before['arguments']) ?? ''}${asString(added['arguments']) ?? ''}`,
    },
  });
}

function isFirst(choice: unknown): choice is JsonObject {
  return isObject(choice) && asCount(choice['index']) === 0;
}

/** Fields that matter when they are there at all; later chunks hold only more of the same. */
const SIGNS = ['tool_calls', 'function_call', 'refusal'];

function signsIn(piece: unknown): JsonObject {
  if (!isObject(piece)) return {};
  return Object.fromEntries(SIGNS.filter((name) => isGiven(piece[name])).map((name) => [name, piece[name]]));
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

/** Text comes bare or in parts. */
function partsOf(content: unknown): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
}
