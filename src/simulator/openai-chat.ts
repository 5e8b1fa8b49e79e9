import { openaiChatContract } from '../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import { openaiChat } from '../formats/openai-chat.ts';
import type { ModelLimits } from './model-endpoint.ts';
import {
  automaticCacheUse,
  openaiEndpoint,
  openaiError,
  openaiRefusal,
  readToolChoice,
  reasons,
} from './openai.ts';
import type { Exchange, Problem, Provider, Refused, ServerEvent, World } from './provider.ts';
import { type FittedReply, inPieces, type OutputRoom, type ReplyStop } from './reply.ts';
import type { OfferedTool } from './script.ts';

/** `POST /v1/chat/completions`. */
export function createOpenaiChat(world: World): Provider {
  return {
    ...openaiEndpoint,
    format: 'openai-chat',
    path: '/v1/chat/completions',
    streamEnd: '[DONE]',

    accept({ body }) {
      const problem = openaiRefusal(openaiChatContract.check(body));
      const request = isObject(body) ? body : {};
      const refusal = problem ?? checkChoices(request);
      if (refusal !== undefined) return { problem: refusal };
      return { body: request, conversation: openaiChat.read(request), transformations: [] };
    },

    outputRoom: chatOutputRoom,
    readAsked: ({ body }) => ({
      ...readToolChoice(body, asList(body['tools']).flatMap(readTool)),
      thinks: reasons(body, body['reasoning_effort']),
      stopSequences: readStopSequences(body),
      choiceCount: readChoiceCount(body),
    }),
    answer: (exchange) => writeCompletion(exchange, world),
    events: (answer, body) => completionEvents(answer, wantsStreamUsage(body)),
    errorEvents: (first, problem) => [...first, { data: { error: openaiError(problem) } }],
  };
}

function readTool(tool: unknown): readonly OfferedTool[] {
  const called: unknown = isObject(tool) ? tool['function'] : undefined;
  if (!isObject(called)) return [];
  const schema: JsonObject = isObject(called['parameters']) ? called['parameters'] : {};
  return [{ name: asString(called['name']) ?? '', schema }];
}

const maxChoices = 128;
const maxStopSequences = 4;

/** How many answers a request asks for. */
export function readChoiceCount({ n }: JsonObject): number {
  return typeof n === 'number' ? n : 1;
}

/** Texts that end an answer: one, or a list. */
export function readStopSequences({ stop }: JsonObject): readonly string[] {
  const texts = typeof stop === 'string' ? [stop] : asList(stop);
  return texts.flatMap((text) => asString(text) ?? []);
}

/** The refusal of a number of answers, or of stop sequences, that the API does not take. */
export function checkChoices({ n, stop }: JsonObject): Problem | undefined {
  if (n !== undefined && n !== null) {
    const problem = checkCount(n);
    if (problem !== undefined) return problem;
  }
  const { length } = asList(stop);
  if (length <= maxStopSequences) return undefined;
  const message = `Invalid 'stop': array too long. Expected an array with maximum length ${maxStopSequences}, but got an array with length ${length} instead.`;
  return { status: 400, code: 'array_above_max_length', param: 'stop', message };
}

function checkCount(count: unknown): Problem | undefined {
  if (typeof count !== 'number' || !Number.isInteger(count)) {
    const message = "Invalid type for 'n': expected an integer.";
    return { status: 400, code: 'invalid_type', param: 'n', message };
  }
  if (count >= 1 && count <= maxChoices) return undefined;
  const [side, limit] =
    count < 1 ? (['below minimum', '>= 1'] as const) : (['above maximum', `<= ${maxChoices}`] as const);
  const message = `Invalid 'n': integer ${side} value. Expected a value ${limit}, but got ${count} instead.`;
  return {
    status: 400,
    code: count < 1 ? 'integer_below_min_value' : 'integer_above_max_value',
    param: 'n',
    message,
  };
}

/** Newer models name the limit of their input, older ones the window that input and output share. */
const inputLimited = /^(?:ft:)?gpt-[5-9]/;

/** `context_length_exceeded`, in the wording of the model's generation. Without a limit the output has all the rest. */
export function chatOutputRoom(
  promptTokens: number,
  body: JsonObject,
  { windowTokens, inputTokens }: ModelLimits,
): OutputRoom | Refused {
  const limit = body['max_completion_tokens'] ?? body['max_tokens'];
  const wanted = typeof limit === 'number' ? limit : undefined;
  if (promptTokens > inputTokens) {
    return inputLimited.test(asString(body['model']) ?? '')
      ? refuse(
          `Input tokens exceed the configured limit of ${inputTokens} tokens. Your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
        )
      : refuse(
          `This model's maximum context length is ${inputTokens} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
        );
  }
  const room = windowTokens - promptTokens;
  if (wanted === undefined || wanted <= room)
    return { tokens: Math.min(wanted ?? room, room), stop: 'length' };
  if (inputLimited.test(asString(body['model']) ?? '')) return { tokens: room, stop: 'length' };
  return refuse(
    `This model's maximum context length is ${windowTokens} tokens. However, you requested ${promptTokens + wanted} tokens (${promptTokens} in the messages, ${wanted} in the completion). Please reduce the length of the messages or completion.`,
  );
}

function refuse(message: string): Refused {
  return { problem: { status: 400, message, code: 'context_length_exceeded', param: 'messages' } };
}

const finishReasons: Readonly<Record<ReplyStop, string>> = {
  end: 'stop',
  'tool-call': 'tool_calls',
  'stop-sequence': 'stop',
  length: 'length',
  window: 'length',
};

/** A `chat.completion`. Thinking shows only in the number of reasoning tokens. */
export function writeCompletion({ accepted, prompt, replies }: Exchange, world: World): JsonObject {
  const model = asString(accepted.body['model']) ?? '';
  const cache = automaticCacheUse(world.cache, prompt, model);
  const choices = replies.map((reply, index) => writeChoice(reply, index, world));
  const outputTokens = replies.reduce((sum, reply) => sum + reply.outputTokens, 0);
  return {
    id: world.ids('chatcmpl-', 29),
    object: 'chat.completion',
    created: Math.floor(world.now() / 1000),
    model,
    choices,
    usage: {
      prompt_tokens: prompt.tokens,
      completion_tokens: outputTokens,
      total_tokens: prompt.tokens + outputTokens,
      prompt_tokens_details: { ...cache, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: replies.reduce((sum, { thinkingTokens }) => sum + thinkingTokens, 0),
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: null,
  };
}

function writeChoice(reply: FittedReply, index: number, world: World): JsonObject {
  const text = reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = reply.parts.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: world.ids('call_'),
            type: 'function',
            function: { name: part.name, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    logprobs: null,
    finish_reason: finishReasons[reply.stop],
  };
}

/** Whether the client wants the usage of a stream. */
export function wantsStreamUsage(body: JsonObject): boolean {
  return isObject(body['stream_options']) && body['stream_options']['include_usage'] === true;
}

/** A completion as its chunks: the role, text, calls piece by piece, the finish, and the usage where it is wanted. */
export function completionEvents(completion: JsonObject, withUsage: boolean): readonly ServerEvent[] {
  const { choices, usage, object: _object, ...shared } = completion;
  const chunk = (choice: object): ServerEvent => ({
    data: {
      ...shared,
      object: 'chat.completion.chunk',
      choices: [choice],
      ...(withUsage ? { usage: null } : {}),
    },
  });
  const usageChunk: ServerEvent = {
    data: { ...shared, object: 'chat.completion.chunk', choices: [], usage },
  };
  const pieces = inTurn(asList(choices).map((choice) => choicePieces(asObject(choice))));
  return [...pieces.map(chunk), ...(withUsage ? [usageChunk] : [])];
}

function choicePieces(choice: JsonObject): readonly object[] {
  const message = asObject(choice['message']);
  const piece = (delta: object, finishReason: unknown = null): object => ({
    index: choice['index'],
    delta,
    logprobs: null,
    finish_reason: finishReason,
  });
  return [
    piece({ role: 'assistant', content: message['content'] === null ? null : '', refusal: null }),
    ...inPieces(asString(message['content']) ?? '').map((content) => piece({ content })),
    ...asList(message['tool_calls']).flatMap((call, index) =>
      callDeltas(asObject(call), index).map((delta) => piece({ tool_calls: [delta] })),
    ),
    piece({}, choice['finish_reason']),
  ];
}

/** Several answers come mixed: the first piece of each, the second of each, and so on. */
function inTurn<Piece>(lists: readonly (readonly Piece[])[]): readonly Piece[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

/** Id and name come first, the arguments in pieces behind them. */
function callDeltas(call: JsonObject, index: number): readonly object[] {
  const called = asObject(call['function']);
  return [
    { index, id: call['id'], type: 'function', function: { name: called['name'], arguments: '' } },
    ...inPieces(asString(called['arguments']) ?? '').map((piece) => ({
      index,
      function: { arguments: piece },
    })),
  ];
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
