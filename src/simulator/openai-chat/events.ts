import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { inPieces } from '../pieces.ts';
import type { ServerEvent } from '../provider.ts';

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
