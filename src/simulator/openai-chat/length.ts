import { asString, type JsonObject } from '../../conversation/json.ts';
import type { ModelLimits } from '../model-limits.ts';
import type { Refused } from '../problem.ts';
import type { OutputRoom } from '../reply.ts';

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
