import { openaiChatContract } from '../../contracts/registry.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { openaiChat } from '../../formats/openai-chat.ts';
import { openaiEndpoint, openaiError, openaiRefusal } from '../openai-errors.ts';
import { readToolChoice, reasons } from '../openai-request.ts';
import type { Provider, World } from '../provider.ts';
import type { OfferedTool } from '../script.ts';
import { wantsStreamUsage, writeCompletion } from './answer.ts';
import { checkChoices, readChoiceCount, readStopSequences } from './choices.ts';
import { completionEvents } from './events.ts';
import { chatOutputRoom } from './length.ts';

/** `POST /v1/chat/completions`. */
export function createOpenaiChat(world: World): Provider {
  return {
    ...openaiEndpoint,
    format: 'openai-chat',
    streamEnd: '[DONE]',

    accept({ body }) {
      const problem = openaiRefusal(openaiChatContract.check(body));
      const request = isObject(body) ? body : {};
      const refusal = problem ?? checkChoices(request);
      if (refusal !== undefined) return { problem: refusal };
      return { body: request, conversation: openaiChat.read(request), transformations: [] };
    },

    truncates: () => false,
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
    failedEvents: (answer, problem) => [
      ...completionEvents(answer, false).slice(0, 1),
      { data: { error: openaiError(problem) } },
    ],
  };
}

function readTool(tool: unknown): readonly OfferedTool[] {
  const called: unknown = isObject(tool) ? tool['function'] : undefined;
  if (!isObject(called)) return [];
  const schema: JsonObject = isObject(called['parameters']) ? called['parameters'] : {};
  return [{ name: asString(called['name']) ?? '', schema }];
}
