import { openaiChatContract } from '../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { asObject } from './json.ts';
import {
  automaticCacheUse,
  inputText,
  openaiEndpoint,
  openaiError,
  openaiRefusal,
  readToolChoice,
  reasons,
} from './openai.ts';
import {
  type Accepted,
  type Exchange,
  fixedPaths,
  type ModelLimits,
  type Problem,
  type Provider,
  type Refused,
  type ServerEvent,
  streamsByBody,
  type World,
} from './provider.ts';
import { type FittedReply, inPieces, type OutputRoom, type ReplyPart, type ReplyStop } from './reply.ts';
import type { OfferedTool } from './script.ts';

/** `POST /v1/chat/completions`. */
export function createOpenaiChat(world: World): Provider {
  return {
    ...openaiEndpoint,
    format: 'openai-chat',
    target: fixedPaths('/v1/chat/completions'),
    streamEnd: '[DONE]',

    accept(call) {
      const body = asObject(call.body);
      const problem =
        openaiRefusal(openaiChatContract.check(call.body)) ?? checkCount(body) ?? checkStop(body);
      if (problem !== undefined) return { problem };
      const model = asString(body['model']) ?? '';
      return { body, model, streamsAs: streamsByBody(body), conversation: openaiChat.read(body) };
    },

    outputRoom,
    readAsked: ({ body, model }) => ({
      ...readToolChoice(body, asList(body['tools']).flatMap(readTool)),
      thinks: reasons(model, body['reasoning_effort']),
      stopSequences: stopsOf(body).flatMap((text) => asString(text) ?? []),
      choiceCount: typeof body['n'] === 'number' ? body['n'] : 1,
    }),
    answer: (exchange) => writeCompletion(exchange, world),
    events: completionEvents,
    errorEvents: (first, problem) => [...first, { data: { error: openaiError(problem) } }],
  };
}

function readTool(tool: unknown): readonly OfferedTool[] {
  const { function: called, custom } = asObject(tool);
  if (isObject(called))
    return [{ name: asString(called['name']) ?? '', schema: asObject(called['parameters']) }];
  return isObject(custom) ? [{ name: asString(custom['name']) ?? '', schema: {}, kind: 'custom' }] : [];
}

const maxChoices = 128;
const maxStopSequences = 4;

/** Texts that end an answer: one, or a list. */
function stopsOf({ stop }: JsonObject): readonly unknown[] {
  return typeof stop === 'string' ? [stop] : asList(stop);
}

function checkStop(body: JsonObject): Problem | undefined {
  const { length } = stopsOf(body);
  if (length <= maxStopSequences) return undefined;
  const message = `Invalid 'stop': array too long. Expected an array with maximum length ${maxStopSequences}, but got an array with length ${length} instead.`;
  return { status: 400, code: 'array_above_max_length', param: 'stop', message };
}

/** The refusal of a number of answers that the API does not give. */
function checkCount({ n }: JsonObject): Problem | undefined {
  if (n === undefined || n === null) return undefined;
  const refuse = (code: string, message: string): Problem => ({ status: 400, code, param: 'n', message });
  if (typeof n !== 'number' || !Number.isInteger(n)) {
    return refuse('invalid_type', "Invalid type for 'n': expected an integer.");
  }
  if (n >= 1 && n <= maxChoices) return undefined;
  const [code, side, limit] =
    n < 1
      ? ['integer_below_min_value', 'below minimum', '>= 1']
      : ['integer_above_max_value', 'above maximum', `<= ${maxChoices}`];
  return refuse(
    `${code}`,
    `Invalid 'n': integer ${side} value. Expected a value ${limit}, but got ${n} instead.`,
  );
}

/** Newer models name the limit of their input, older ones the window that input and output share. */
const inputLimited = /^(?:ft:)?gpt-[5-9]/;

/** `context_length_exceeded`, in the wording of the model's generation. Without a limit the output has all the rest. */
function outputRoom(
  promptTokens: number,
  { body, model }: Accepted,
  { windowTokens, inputTokens }: ModelLimits,
): OutputRoom | Refused {
  const isInputLimited = inputLimited.test(model);
  if (promptTokens > inputTokens) {
    const limit = isInputLimited
      ? `Input tokens exceed the configured limit of ${inputTokens} tokens. Your`
      : `This model's maximum context length is ${inputTokens} tokens. However, your`;
    const rest = `messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`;
    return tooLong(`${limit} ${rest}`);
  }
  const wanted = body['max_completion_tokens'] ?? body['max_tokens'];
  const room = windowTokens - promptTokens;
  if (typeof wanted !== 'number') return { tokens: room, stop: 'length' };
  if (wanted <= room || isInputLimited) return { tokens: Math.min(wanted, room), stop: 'length' };
  return tooLong(
    `This model's maximum context length is ${windowTokens} tokens. However, you requested ${promptTokens + wanted} tokens (${promptTokens} in the messages, ${wanted} in the completion). Please reduce the length of the messages or completion.`,
  );
}

function tooLong(message: string): Refused {
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
function writeCompletion({ accepted, prompt, replies }: Exchange, world: World): JsonObject {
  const { model } = accepted;
  const cache = automaticCacheUse(world, prompt, model);
  const customTools = new Set(
    asList(accepted.body['tools'])
      .flatMap(readTool)
      .flatMap(({ kind, name }) => (kind === 'custom' ? name : [])),
  );
  const choices = replies.map((reply, index) => writeChoice(reply, index, customTools, world));
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

function writeChoice(
  reply: FittedReply,
  index: number,
  customTools: ReadonlySet<string>,
  world: World,
): JsonObject {
  const text = reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = reply.parts.flatMap((part) =>
    part.type === 'tool-call' ? [writeCall(part, customTools.has(part.name), world)] : [],
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

function writeCall(
  { name, input }: ReplyPart & { readonly type: 'tool-call' },
  isCustom: boolean,
  { ids }: World,
): JsonObject {
  const id = ids('call_');
  return isCustom
    ? { id, type: 'custom', custom: { name, input: inputText(input) } }
    : { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** A completion as its chunks: the role, text, calls piece by piece, the finish, and the usage where it is wanted. */
function completionEvents(completion: JsonObject, body: JsonObject): readonly ServerEvent[] {
  const { choices, usage, ...shared } = completion;
  const withUsage = asObject(body['stream_options'])['include_usage'] === true;
  const chunk = (fields: object): ServerEvent => ({
    data: { ...shared, object: 'chat.completion.chunk', ...fields },
  });
  const pieces = inTurn(asList(choices).map((choice) => choicePieces(asObject(choice))));
  return [
    ...pieces.map((piece) => chunk({ choices: [piece], ...(withUsage ? { usage: null } : {}) })),
    ...(withUsage ? [chunk({ choices: [], usage })] : []),
  ];
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
  const { id, type } = call;
  const [kind, field] = type === 'custom' ? ['custom', 'input'] : ['function', 'arguments'];
  const called = asObject(call[kind]);
  return [
    { index, id, type, [kind]: { name: called['name'], [field]: '' } },
    ...inPieces(asString(called[field]) ?? '').map((piece) => ({ index, [kind]: { [field]: piece } })),
  ];
}
