import { asList, asString, isObject, type JsonObject } from '../../core/json.ts';
import { automaticCacheUse } from '../automatic-cache.ts';
import type { Exchange, World } from '../provider.ts';
import type { FittedReply, ReplyPart } from '../reply.ts';
import { followerIdOf, type ReasoningSeals } from './seals.ts';

/** A `response` object. What the request set is repeated in it, as the API does. */
export function writeResponse(
  { accepted, prompt, reply }: Exchange,
  world: World,
  seals: ReasoningSeals,
): JsonObject {
  const { body } = accepted;
  const model = asString(body['model']) ?? '';
  const isWhole = reply.stop === 'end' || reply.stop === 'tool-call';
  const cache = automaticCacheUse(world.cache, prompt, model);
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  return {
    id: world.ids('resp_', 48),
    object: 'response',
    created_at: Math.floor(world.now() / 1000),
    status: isWhole ? 'completed' : 'incomplete',
    background: false,
    error: null,
    incomplete_details: isWhole ? null : { reason: 'max_output_tokens' },
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    model,
    output: writeItems(reply, world, seals),
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    previous_response_id: body['previous_response_id'] ?? null,
    reasoning: { effort: reasoning['effort'] ?? null, summary: reasoning['summary'] ?? null },
    service_tier: 'default',
    store: body['store'] ?? true,
    temperature: body['temperature'] ?? 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: asList(body['tools']),
    top_p: body['top_p'] ?? 1,
    truncation: body['truncation'] ?? 'disabled',
    usage: {
      input_tokens: prompt.tokens,
      input_tokens_details: cache,
      output_tokens: reply.outputTokens,
      output_tokens_details: { reasoning_tokens: reply.thinkingTokens },
      total_tokens: prompt.tokens + reply.outputTokens,
    },
  };
}

function writeItems({ parts, stop }: FittedReply, { ids }: World, seals: ReasoningSeals): readonly object[] {
  let thought: string | undefined;
  const writeItem = (part: ReplyPart, position: number): object => {
    const idFor = (prefix: string): string =>
      thought === undefined ? ids(`${prefix}_`, 48) : followerIdOf(prefix, thought, position);
    switch (part.type) {
      case 'thinking': {
        thought = ids('rs_', 48);
        const summary = [{ type: 'summary_text', text: part.text }];
        return {
          id: thought,
          type: 'reasoning',
          summary,
          encrypted_content: seals.encrypt(thought, part.text),
        };
      }
      case 'text':
        return {
          id: idFor('msg'),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          phase: stop === 'tool-call' ? 'commentary' : 'final_answer',
          content: [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }],
        };
      case 'tool-call':
        return {
          id: idFor('fc'),
          type: 'function_call',
          status: 'completed',
          call_id: ids('call_'),
          name: part.name,
          arguments: JSON.stringify(part.input),
        };
    }
  };
  return parts.map(writeItem);
}
