import { asList, asString, isObject, type JsonObject } from '../../core/json.ts';
import { inPieces } from '../pieces.ts';
import type { ServerEvent } from '../provider.ts';

/** A completion as its chunks: the role, text, calls piece by piece, the finish, and the usage where it is wanted. */
export function completionEvents(completion: JsonObject, withUsage: boolean): readonly ServerEvent[] {
  const { choices, usage, object: _object, ...shared } = completion;
  const choice = asObject(asList(choices)[0]);
  const message = asObject(choice['message']);
  const chunk = (delta: object, finishReason: unknown): ServerEvent => ({
    data: {
      ...shared,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(withUsage ? { usage: null } : {}),
    },
  });
  const usageChunk: ServerEvent = {
    data: { ...shared, object: 'chat.completion.chunk', choices: [], usage },
  };
  return [
    chunk({ role: 'assistant', content: message['content'] === null ? null : '', refusal: null }, null),
    ...inPieces(asString(message['content']) ?? '').map((content) => chunk({ content }, null)),
    ...asList(message['tool_calls']).flatMap((call, index) =>
      callDeltas(asObject(call), index).map((delta) => chunk({ tool_calls: [delta] }, null)),
    ),
    chunk({}, choice['finish_reason']),
    ...(withUsage ? [usageChunk] : []),
  ];
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
