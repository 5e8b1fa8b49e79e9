import { openaiResponsesContract } from '../../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { openaiResponses } from '../../formats/openai-responses.ts';
import type { ModelLimits } from '../model-endpoint.ts';
import { automaticCacheUse, openaiEndpoint, openaiRefusal, readToolChoice, reasons } from '../openai.ts';
import type { Exchange, Problem, Provider, Refused, World } from '../provider.ts';
import type { OutputRoom } from '../reply.ts';
import type { OfferedTool } from '../script.ts';
import {
  checkContextManagement,
  compactionTokens,
  isTriggered,
  sinceCompaction,
  userMessagesOf,
  writeCompaction,
  writeResponse,
} from './answer.ts';
import { eventAfter, failedResponseEvents, responseEvents } from './events.ts';
import { createReasoningSeals, itemsOf, type ReasoningSeals } from './server-state.ts';

/** `POST /v1/responses`. Keeps responses unless the request says `store: false`. */
export function createOpenaiResponses(world: World): Provider {
  const seals = createReasoningSeals(world.secret);
  const stored = world.responses;
  const context = { seals: seals.verify, stored: stored.has };

  return {
    ...openaiEndpoint,
    format: 'openai-responses',
    path: '/v1/responses',
    counter: {
      path: '/v1/responses/input_tokens',
      answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    },
    streamEnd: undefined,

    accept({ body }) {
      const problem = openaiRefusal(openaiResponsesContract.check(body, context));
      if (problem !== undefined) return { problem };
      const request = isObject(body) ? body : {};
      const whole = stored.expand(request);
      // With the hidden half of the history at hand, its pairs can be judged as well.
      const hidden =
        whole === request ? undefined : openaiRefusal(openaiResponsesContract.check(whole, context));
      const refusal = hidden ?? checkContextManagement(request);
      if (refusal !== undefined) return { problem: refusal };
      return { body: request, conversation: openaiResponses.read(seenOf(whole)), transformations: [] };
    },

    truncates: (body) => body['truncation'] === 'auto',
    outputRoom: responsesOutputRoom,
    readAsked: ({ body }) => ({
      ...readToolChoice(body, asList(body['tools']).flatMap(readTool)),
      thinks: reasons(body, isObject(body['reasoning']) ? body['reasoning']['effort'] : undefined),
      isCompaction: isTriggered(body),
    }),
    answer(exchange) {
      const response = writeResponse(exchange, world, seals);
      const { body } = exchange.accepted;
      if (body['store'] !== false) stored.keep(response, itemsOf(stored.expand(body)));
      return response;
    },
    events: responseEvents,
    errorEvents: (first, problem) => {
      const { message, param = null } = problem;
      return [...first, eventAfter(first, ['error', { code: codeOf(problem), message, param }])];
    },
    failedEvents: (answer, problem) =>
      failedResponseEvents(answer, { code: codeOf(problem), message: problem.message }),
  };
}

/** The request as the model sees it; the very same one when nothing in it was compacted. */
function seenOf(body: JsonObject): JsonObject {
  const items = asList(body['input']);
  const seen = sinceCompaction(items);
  return seen === items ? body : { ...body, input: seen };
}

function codeOf({ code, status }: Problem): string {
  return code ?? (status === 529 ? 'server_is_overloaded' : 'server_error');
}

function responsesOutputRoom(
  promptTokens: number,
  body: JsonObject,
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

function readTool(tool: unknown): readonly OfferedTool[] {
  if (!isObject(tool) || tool['type'] !== 'function') return [];
  const schema: JsonObject = isObject(tool['parameters']) ? tool['parameters'] : {};
  return [{ name: asString(tool['name']) ?? '', schema }];
}

/** `POST /v1/responses/compact`: the same requests, answered with a shorter input to go on with. */
export function createResponsesCompact(world: World): Provider {
  const responses = createOpenaiResponses(world);
  const seals = createReasoningSeals(world.secret);
  return {
    ...responses,
    path: '/v1/responses/compact',
    counter: undefined,
    accept: (call) => {
      const accepted = responses.accept(call);
      return 'body' in accepted && accepted.body['stream'] !== undefined ? { problem: noStream } : accepted;
    },
    readAsked: (accepted) => ({ ...responses.readAsked(accepted), isCompaction: true }),
    answer: (exchange) => writeCompacted(exchange, world, seals),
  };
}

const noStream: Problem = {
  status: 400,
  code: 'unknown_parameter',
  param: 'stream',
  message: "Unknown parameter: 'stream'.",
};

/** The user's messages as they are, and one item for everything else. */
function writeCompacted({ accepted, prompt }: Exchange, world: World, seals: ReasoningSeals): JsonObject {
  const items = itemsOf(world.responses.expand(accepted.body));
  const outputTokens = compactionTokens(prompt);
  const model = asString(accepted.body['model']) ?? '';
  return {
    id: world.ids('resp_', 48),
    object: 'response.compaction',
    created_at: Math.floor(world.now() / 1000),
    output: [...userMessagesOf(items, world), writeCompaction(prompt, world, seals)],
    usage: {
      input_tokens: prompt.tokens,
      input_tokens_details: automaticCacheUse(world.cache, prompt, model),
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt.tokens + outputTokens,
    },
  };
}
