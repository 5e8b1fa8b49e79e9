import type { Violation } from '../contracts/contract.ts';
import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import { findModel } from '../tokens/catalog.ts';
import type { ModelInfo } from '../tokens/model-info.ts';
import { asObject } from './json.ts';
import type { Prompt } from './prompt.ts';
import type { Asked, Call, ModelList, Problem, World } from './provider.ts';
import type { OfferedTool } from './script.ts';

/** Types and codes of OpenAI's errors where the problem names none. */
const defaults = new Map<number, { readonly type: string; readonly code: string | null }>([
  [429, { type: 'requests', code: 'rate_limit_exceeded' }],
  [500, { type: 'server_error', code: null }],
  [529, { type: 'server_error', code: 'server_is_overloaded' }],
]);

/** `error` of an OpenAI error body. */
export function openaiError({ status, message, type, code, param }: Problem): object {
  const usual = defaults.get(status) ?? { type: 'invalid_request_error', code: null };
  return { message, type: type ?? usual.type, param: param ?? null, code: code ?? usual.code };
}

/** Codes that the API gives with some of its rules. */
const codes = new Map<string, string>([
  ['no-messages', 'empty_array'],
  ['empty-tool-call-list', 'empty_array'],
  ['too-many-tools', 'array_above_max_length'],
  ['too-many-tool-calls', 'array_above_max_length'],
  ['tool-call-id-too-long', 'string_above_max_length'],
  ['text-too-long', 'string_above_max_length'],
  ['malformed-tool-name', 'invalid_value'],
  ['output-limit-too-high', 'invalid_value'],
  ['malformed-item-id', 'invalid_value'],
  ['previous-response-not-found', 'previous_response_not_found'],
  ['encrypted-content-invalid', 'invalid_encrypted_content'],
]);

/** Rules that are answered with another status than 400. */
const statuses = new Map<string, number>([['stored-item-not-found', 404]]);

/** The refusal that a broken rule is answered with; undefined when there is none that counts. */
export function openaiRefusal(violations: readonly Violation[]): Problem | undefined {
  const violation = violations.find(({ severity }) => severity === 'error');
  if (violation === undefined) return undefined;
  const { rule, message, path } = violation;
  return { status: statuses.get(rule) ?? 400, message, rule, code: codes.get(rule), param: path };
}

const models: ModelList = {
  path: '/v1/models',
  maker: 'openai',
  writeList: (listed) => ({ object: 'list', data: listed.map(writeModel) }),
  write: writeModel,
  unknown: (id) => ({
    status: 404,
    message: `The model '${id}' does not exist or you do not have access to it.`,
    code: 'model_not_found',
    param: 'model',
  }),
};

function writeModel({ id, asOf, provider }: ModelInfo): object {
  return { id, object: 'model', created: Date.parse(`${asOf}-01T00:00:00Z`) / 1000, owned_by: provider };
}

/** What both endpoints of OpenAI share. */
export const openaiEndpoint = {
  models,
  /** Whoever is nobody else's client is taken for one of OpenAI's. */
  speaksTo: (): boolean => true,
  notFound: ({ method, path }: { readonly method: string; readonly path: string }): string =>
    `Invalid URL (${method} ${path})`,
  requestIdHeader: 'x-request-id',
  missingKey: {
    status: 401,
    message:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  },
  tooLargeBody: { status: 413, message: 'Request body is too large.' },
  hasKey: (headers: Call['headers']): boolean => /^bearer \S/i.test(headers['authorization'] ?? ''),
  errorBody: (problem: Problem): unknown => ({ error: openaiError(problem) }),
} as const;

/** Reads `tool_choice` and `parallel_tool_calls`: the same words in Chat and Responses, one name nested deeper. */
export function readToolChoice(body: JsonObject, offered: readonly OfferedTool[]): Omit<Asked, 'thinks'> {
  const choice = body['tool_choice'];
  const wanted = nameOf(choice);
  return {
    tools: choice === 'none' ? [] : offered.filter(({ name }) => wanted === undefined || name === wanted),
    toolChoice: choice === 'required' || wanted !== undefined ? 'forced' : 'free',
    mayCallInParallel: body['parallel_tool_calls'] !== false,
  };
}

function nameOf(choice: unknown): string | undefined {
  const { function: called, custom, name } = asObject(choice);
  const nested = called ?? custom;
  return asString(isObject(nested) ? nested['name'] : name);
}

/** What a tool that takes a text is called with: the `input` of the call, or else all of it as JSON. */
export function inputText(input: JsonObject): string {
  return asString(input['input']) ?? JSON.stringify(input);
}

const reasoningModels = /^(?:ft:)?(?:o\d|gpt-[5-9](?!.{0,20}chat))/;

/** Whether the model thinks before it answers: reasoning models do unless the effort is `none`. */
export function reasons(model: string, effort: unknown): boolean {
  return reasoningModels.test(model.slice(0, 200)) && effort !== 'none';
}

/** Memory of models for which no lifetime is promised, in seconds. */
const defaultTtlSeconds = 600;

/** What OpenAI reports about its prompt cache. Writes are counted for models that charge for them. */
export interface AutomaticCacheDetails {
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
}

/** Looks the prompt up in the automatic cache of its model and remembers it there. */
export function automaticCacheUse({ cache }: World, prompt: Prompt, model: string): AutomaticCacheDetails {
  const info = findModel(model);
  const ttlSeconds = info?.cache?.ttlSeconds?.[0] ?? defaultTtlSeconds;
  const { readTokens, writtenTokens } = cache.useAutomatic(prompt, ttlSeconds * 1000);
  const isWriteCharged = info?.prices?.cacheWrite !== undefined;
  return { cached_tokens: readTokens, cache_write_tokens: isWriteCharged ? writtenTokens : 0 };
}
