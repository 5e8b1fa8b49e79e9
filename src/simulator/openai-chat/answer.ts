import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { automaticCacheUse } from '../automatic-cache.ts';
import type { Exchange, World } from '../provider.ts';
import type { FittedReply, ReplyStop } from '../reply.ts';

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
