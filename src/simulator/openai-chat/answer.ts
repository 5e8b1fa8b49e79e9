import { asString, isObject, type JsonObject } from '../../core/json.ts';
import { automaticCacheUse } from '../automatic-cache.ts';
import type { Exchange, World } from '../provider.ts';
import type { ReplyStop } from '../reply.ts';

const finishReasons: Readonly<Record<ReplyStop, string>> = {
  end: 'stop',
  'tool-call': 'tool_calls',
  length: 'length',
  window: 'length',
};

/** A `chat.completion`. Thinking shows only in the number of reasoning tokens. */
export function writeCompletion({ accepted, prompt, reply }: Exchange, world: World): JsonObject {
  const model = asString(accepted.body['model']) ?? '';
  const cache = automaticCacheUse(world.cache, prompt, model);
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
    id: world.ids('chatcmpl-', 29),
    object: 'chat.completion',
    created: Math.floor(world.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        logprobs: null,
        finish_reason: finishReasons[reply.stop],
      },
    ],
    usage: {
      prompt_tokens: prompt.tokens,
      completion_tokens: reply.outputTokens,
      total_tokens: prompt.tokens + reply.outputTokens,
      prompt_tokens_details: { ...cache, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: reply.thinkingTokens,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    service_tier: 'default',
    system_fingerprint: null,
  };
}

/** Whether the client wants the usage of a stream. */
export function wantsStreamUsage(body: JsonObject): boolean {
  return isObject(body['stream_options']) && body['stream_options']['include_usage'] === true;
}
