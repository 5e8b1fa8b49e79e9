import { openaiResponsesContract } from '../../contracts/registry.ts';
import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import { openaiResponses } from '../../formats/openai-responses/format.ts';
import { asObject } from '../json.ts';
import { openaiEndpoint, openaiRefusal, readToolChoice, reasons } from '../openai.ts';
import {
  type Accepted,
  fixedPaths,
  type ModelLimits,
  type Problem,
  type Provider,
  type Refused,
  streamsByBody,
  type World,
} from '../provider.ts';
import type { OutputRoom } from '../reply.ts';
import { isTriggered, writeCompacted, writeResponse } from './answer.ts';
import type { NamedTool } from './calls.ts';
import { createReasoningSeals, createStoredResponses, itemsOf } from './server-state.ts';
import { failedResponseEvents, responseEvents, toEvent } from './stream.ts';

/** `POST /v1/responses`, which keeps responses unless the request says `store: false`, and `POST /v1/responses/compact`. */
export function createOpenaiResponses(world: World): readonly Provider[] {
  const seals = createReasoningSeals(world.secret, world.needsReasoningIds);
  const stored = createStoredResponses();
  const context = { seals: seals.verify, stored: stored.has };
  const check = (body: unknown): Problem | undefined =>
    openaiRefusal(openaiResponsesContract.check(body, context));

  const responses: Provider = {
    ...openaiEndpoint,
    format: 'openai-responses',
    target: fixedPaths('/v1/responses', '/v1/responses/input_tokens'),
    countAnswer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    streamEnd: undefined,

    accept(call) {
      const problem = check(call.body);
      if (problem !== undefined) return { problem };
      const body = asObject(call.body);
      const whole = stored.expand(body);
      // With the hidden half of the history at hand, its pairs can be judged as well.
      const hidden = (whole === body ? undefined : check(whole)) ?? checkContextManagement(body);
      if (hidden !== undefined) return { problem: hidden };
      const model = asString(body['model']) ?? '';
      const conversation = openaiResponses.read(seenOf(whole));
      return { body, model, streamsAs: streamsByBody(body), conversation };
    },

    truncates: (body) => body['truncation'] === 'auto',
    outputRoom,
    readAsked: ({ body, model }) => ({
      ...readToolChoice(body, toolsOf(body)),
      thinks: reasons(model, asObject(body['reasoning'])['effort']),
      isCompaction: isTriggered(body),
    }),
    answer(exchange) {
      const { body } = exchange.accepted;
      const response = writeResponse(exchange, toolsOf(body), world, seals);
      if (body['store'] !== false) stored.keep(response, itemsOf(stored.expand(body)));
      return response;
    },
    events: responseEvents,
    errorEvents(first, problem) {
      const { message, param = null } = problem;
      return [...first, toEvent(['error', { code: codeOf(problem), message, param }], first.length)];
    },
    failedEvents: (answer, problem) =>
      failedResponseEvents(answer, { code: codeOf(problem), message: problem.message }),
  };

  /** The same requests, answered with a shorter input to go on with. */
  const compact: Provider = {
    ...responses,
    target: fixedPaths('/v1/responses/compact'),
    accept(call) {
      const accepted = responses.accept(call);
      return 'body' in accepted && accepted.body['stream'] !== undefined ? { problem: noStream } : accepted;
    },
    readAsked: (accepted) => ({ ...responses.readAsked(accepted), isCompaction: true }),
    answer(exchange) {
      const items = itemsOf(stored.expand(exchange.accepted.body));
      return writeCompacted(exchange, items, world, seals);
    },
  };
  return [responses, compact];
}

const noStream: Problem = {
  status: 400,
  code: 'unknown_parameter',
  param: 'stream',
  message: "Unknown parameter: 'stream'.",
};

/**
 * The request as the model sees it: of a list with compactions in it the newest one, everything behind it, and of what
 * stands before it the messages of users and developers. The very same request when there is none.
 */
function seenOf(body: JsonObject): JsonObject {
  const items = asList(body['input']);
  const newest = items.findLastIndex((item) => asObject(item)['type'] === 'compaction');
  if (newest <= 0) return body;
  return { ...body, input: [...items.slice(0, newest).filter(staysVisible), ...items.slice(newest)] };
}

const visibleRoles: ReadonlySet<unknown> = new Set(['user', 'developer', 'system']);

/** Whether a compaction behind an item leaves it to be read. */
function staysVisible(item: unknown): boolean {
  return visibleRoles.has(asObject(item)['role']);
}

function codeOf({ code, status }: Problem): string {
  return code ?? (status === 529 ? 'server_is_overloaded' : 'server_error');
}

function outputRoom(
  promptTokens: number,
  { body }: Accepted,
  { windowTokens, inputTokens }: ModelLimits,
): OutputRoom | Refused {
  if (promptTokens > inputTokens) return { problem: inputTooLong };
  const wanted = body['max_output_tokens'];
  const room = windowTokens - promptTokens;
  return { tokens: typeof wanted === 'number' ? Math.min(wanted, room) : room, stop: 'length' };
}

const inputTooLong: Problem = {
  status: 400,
  code: 'context_length_exceeded',
  param: 'input',
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
};

/** Tools of the request, and those that an item of its input adds. */
function toolsOf(body: JsonObject): readonly NamedTool[] {
  const added = asList(body['input'])
    .map(asObject)
    .filter(({ type }) => type === 'additional_tools');
  return [body, ...added].flatMap(({ tools }) => asList(tools).flatMap((tool) => readTool(tool)));
}

/** Functions, tools that take a text, the two searches, which go by the name of their type, and namespaces of tools. */
function readTool(tool: unknown, namespace?: string): readonly NamedTool[] {
  const { type, name: given, parameters, tools } = asObject(tool);
  const name = asString(given) ?? '';
  const schema = asObject(parameters);
  if (type === 'function') return [{ name, schema, namespace }];
  if (type === 'custom') return [{ name, schema, kind: 'custom', namespace }];
  if (type === 'namespace' && namespace === undefined) {
    return asList(tools).flatMap((inner) => readTool(inner, name));
  }
  if (type === 'tool_search') return [{ name: type, schema, kind: 'tool-search' }];
  return typeof type === 'string' && /^web_search(?:_|$)/.test(type)
    ? [{ name: type, schema, kind: 'web-search' }]
    : [];
}

/** The refusal of a way to manage the context that the API does not have. */
function checkContextManagement({ context_management: entries }: JsonObject): Problem | undefined {
  const types = asList(entries).map((entry) => asString(asObject(entry)['type']) ?? '');
  const index = types.findIndex((type) => type !== 'compaction');
  if (index < 0) return undefined;
  const message = `Invalid value: '${types[index]}'. Supported values are: 'compaction'.`;
  return { status: 400, code: 'invalid_value', param: `context_management[${index}].type`, message };
}
