import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import { anthropicMessagesContract } from '../../contracts/registry.ts';
import { asList, asString, isObject } from '../../conversation/json.ts';
import { anthropicMessages } from '../../formats/anthropic-messages/format.ts';
import type { ModelInfo } from '../../tokens/model-info.ts';
import { asObject } from '../json.ts';
import {
  type Accepted,
  type Asked,
  type Call,
  fixedPaths,
  type ModelLimits,
  type ModelList,
  type Problem,
  type Provider,
  type Refused,
  streamsByBody,
  type World,
} from '../provider.ts';
import type { OutputRoom } from '../reply.ts';
import type { OfferedTool } from '../script.ts';
import { messageEvents, named, writeMessage } from './answer.ts';
import { sinceCompaction } from './compaction.ts';
import { createThinkingSeals, dropForeignThinking } from './seals.ts';
import { readServerTool } from './server-tools.ts';

const errorTypes = new Map<number, string>([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

/** `POST /v1/messages`. */
export function createAnthropicMessages(world: World): Provider {
  const seals = createThinkingSeals(world.secret);

  return {
    format: 'anthropic-messages',
    target: fixedPaths('/v1/messages', '/v1/messages/count_tokens'),
    countAnswer: (tokens) => ({ input_tokens: tokens }),
    models,
    speaksTo: (headers) => headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined,
    notFound: () => 'Not Found',
    requestIdHeader: 'request-id',
    streamEnd: undefined,
    missingKey: { status: 401, message: 'x-api-key header is required' },
    tooLargeBody: { status: 413, message: 'Request exceeds the maximum size' },
    hasKey: (headers) => headers['x-api-key'] !== undefined || headers['authorization'] !== undefined,

    errorBody: (problem, requestId) => ({ ...errorOf(problem), request_id: requestId }),

    accept(call) {
      if (call.headers['anthropic-version'] === undefined) {
        return { problem: { status: 400, message: 'anthropic-version: header is required' } };
      }
      const violation = anthropicMessagesContract
        .check(call.body, {
          endpoint: call.target.isCount ? 'count-tokens' : 'messages',
          apiVersion: call.headers['anthropic-version'],
          betas: readBetas(call.headers),
          seals: seals.verify,
        })
        .find(({ severity }) => severity === 'error');
      if (violation !== undefined) return { problem: refusalFor(violation.rule, violation.message) };
      const { body, transformations } = dropForeignThinking(asObject(call.body), seals.verify);
      const model = asString(body['model']) ?? '';
      const conversation = anthropicMessages.read(sinceCompaction(body));
      return { body, model, streamsAs: streamsByBody(body), conversation, transformations };
    },

    outputRoom,
    readAsked,
    answer: (exchange) => writeMessage(exchange, world, seals),
    events: messageEvents,
    errorEvents: (first, problem) => [...first, named('error', { error: errorOf(problem).error })],
  };
}

const models: ModelList = {
  path: '/v1/models',
  maker: 'anthropic',
  writeList: (listed) => ({
    data: listed.map(writeModel),
    has_more: false,
    first_id: listed[0]?.id ?? null,
    last_id: listed.at(-1)?.id ?? null,
  }),
  write: writeModel,
  unknown: (id) => ({ status: 404, message: `model: ${id}` }),
};

function writeModel({ id, asOf, windowTokens, maxInputTokens, maxOutputTokens }: ModelInfo): object {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: `${asOf}-01T00:00:00Z`,
    max_input_tokens: maxInputTokens ?? windowTokens,
    max_tokens: maxOutputTokens ?? null,
  };
}

/** Rules of compaction blocks are named after the error code that the API documents for them. */
function refusalFor(rule: string, message: string): Problem {
  const code = rule.startsWith('compaction-') ? rule.replaceAll('-', '_') : undefined;
  return { status: 400, message, rule, code };
}

function errorOf({ status, message, type, code }: Problem): { type: 'error'; error: object } {
  const details = code === undefined ? {} : { details: { error_code: code } };
  return {
    type: 'error',
    error: { type: type ?? errorTypes.get(status) ?? 'invalid_request_error', message, ...details },
  };
}

function readBetas(headers: Call['headers']): readonly string[] {
  return (headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
}

function readAsked({ body, model }: Accepted): Asked {
  const choice = asObject(body['tool_choice']);
  const offered = asList(body['tools']).flatMap(readTool);
  const wanted = choice['type'] === 'tool' ? offered.filter(({ name }) => name === choice['name']) : offered;
  return {
    tools: choice['type'] === 'none' ? [] : wanted,
    toolChoice: choice['type'] === 'any' || choice['type'] === 'tool' ? 'forced' : 'free',
    mayCallInParallel: choice['disable_parallel_tool_use'] !== true,
    thinks: thinks(model, asObject(body['thinking'])['type']),
    stopSequences: asList(body['stop_sequences']).flatMap((text) => asString(text) ?? []),
    isCompaction: isObject(body['compaction']),
  };
}

/** Tools of the client's own, and searches of the provider's, which have no schema in the request. */
function readTool(tool: unknown): readonly OfferedTool[] {
  if (!isObject(tool)) return [];
  if (!isObject(tool['input_schema'])) return readServerTool(tool);
  return [{ name: asString(tool['name']) ?? '', schema: tool['input_schema'] }];
}

/** Models that cannot be told not to think do so unasked. */
function thinks(model: string, mode: unknown): boolean {
  return mode === undefined ? !modelFacts(model).thinkingModes.includes('disabled') : mode !== 'disabled';
}

/**
 * `prompt is too long` above the window. Models up to Claude 4 also refuse a prompt that leaves no room for all of
 * `max_tokens`; later ones answer and stop with `model_context_window_exceeded` when the window is full.
 */
function outputRoom(
  promptTokens: number,
  { body, model }: Accepted,
  { windowTokens }: ModelLimits,
): OutputRoom | Refused {
  if (promptTokens > windowTokens) {
    return refuse(`prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`);
  }
  const wanted = typeof body['max_tokens'] === 'number' ? body['max_tokens'] : 0;
  if (promptTokens + wanted <= windowTokens) return { tokens: wanted, stop: 'length' };
  if (!isUpToClaude4(model)) return { tokens: windowTokens - promptTokens, stop: 'window' };
  return refuse(
    `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${wanted} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`,
  );
}

function refuse(message: string): Refused {
  return { problem: { status: 400, message } };
}

const claudeVersion = /claude-(?:(\d)(?!\d)|[a-z]{3,12}-(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d))/;

/** Claude 3 in every spelling, and Claude 4 up to 4.1. A name without a version is a new model. */
function isUpToClaude4(model: string): boolean {
  const [, oldMajor, major, minor = '0'] = claudeVersion.exec(model.slice(0, 200).toLowerCase()) ?? [];
  if (oldMajor !== undefined) return true;
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 5));
}
