import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import { anthropicMessagesContract } from '../../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { anthropicMessages } from '../../formats/anthropic-messages.ts';
import type { Problem } from '../problem.ts';
import type { Accepted, Asked, Call, Provider, World } from '../provider.ts';
import type { OfferedTool } from '../script.ts';
import { writeMessage } from './answer.ts';
import { messageEvents, named } from './events.ts';
import { anthropicOutputRoom } from './length.ts';
import { createThinkingSeals } from './seals.ts';
import { sinceCompaction } from './threshold.ts';
import { dropForeignThinking } from './transform.ts';

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
          endpoint: call.isCount === true ? 'count-tokens' : 'messages',
          apiVersion: call.headers['anthropic-version'],
          betas: readBetas(call.headers),
          seals: seals.verify,
        })
        .find(({ severity }) => severity === 'error');
      if (violation !== undefined) return { problem: refusalFor(violation.rule, violation.message) };
      const { body, transformations } = dropForeignThinking(
        isObject(call.body) ? call.body : {},
        seals.verify,
      );
      return { body, conversation: anthropicMessages.read(sinceCompaction(body)), transformations };
    },

    truncates: () => false,
    outputRoom: anthropicOutputRoom,
    readAsked,
    answer: (exchange) => writeMessage(exchange, world, seals),
    events: messageEvents,
    errorEvents: (first, problem) => [...first, errorEvent(problem)],
    failedEvents: (answer, problem) => [...messageEvents(answer).slice(0, 1), errorEvent(problem)],
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

function errorEvent(problem: Problem) {
  return named('error', { error: errorOf(problem).error });
}

function readBetas(headers: Call['headers']): readonly string[] {
  return (headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
}

function readAsked({ body }: Accepted): Asked {
  const choice: JsonObject = isObject(body['tool_choice']) ? body['tool_choice'] : {};
  const offered = asList(body['tools']).flatMap(readTool);
  const wanted = choice['type'] === 'tool' ? offered.filter(({ name }) => name === choice['name']) : offered;
  return {
    tools: choice['type'] === 'none' ? [] : wanted,
    toolChoice: choice['type'] === 'any' || choice['type'] === 'tool' ? 'forced' : 'free',
    mayCallInParallel: choice['disable_parallel_tool_use'] !== true,
    thinks: thinks(body),
    stopSequences: asList(body['stop_sequences']).flatMap((text) => asString(text) ?? []),
    isCompaction: isObject(body['compaction']),
  };
}

/** Tools of the client's own. Those that the provider runs itself have no schema in the request and are never called. */
function readTool(tool: unknown): readonly OfferedTool[] {
  if (!isObject(tool) || !isObject(tool['input_schema'])) return [];
  return [{ name: asString(tool['name']) ?? '', schema: tool['input_schema'] }];
}

/** Models that cannot be told not to think do so unasked. */
function thinks(body: JsonObject): boolean {
  const mode = isObject(body['thinking']) ? body['thinking']['type'] : undefined;
  if (mode !== undefined) return mode !== 'disabled';
  return !modelFacts(asString(body['model'])).thinkingModes.includes('disabled');
}
