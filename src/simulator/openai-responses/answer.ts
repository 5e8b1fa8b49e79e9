import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { automaticCacheUse } from '../automatic-cache.ts';
import type { Exchange, World } from '../provider.ts';
import type { FittedReply, ReplyPart } from '../reply.ts';
import { compactionTokens, isCompactionDue, writeCompaction } from './compaction.ts';
import { followerIdOf, type ReasoningSeals } from './seals.ts';

/** A `response` object. What the request set is repeated in it, as the API does. */
export function writeResponse(exchange: Exchange, world: World, seals: ReasoningSeals): JsonObject {
  const { accepted, reply } = exchange;
  const isWhole = reply.stop !== 'length' && reply.stop !== 'window';
  return {
    id: world.ids('resp_', 48),
    object: 'response',
    created_at: Math.floor(world.now() / 1000),
    status: isWhole ? 'completed' : 'incomplete',
    background: false,
    error: null,
    incomplete_details: isWhole ? null : { reason: 'max_output_tokens' },
    ...settingsOf(accepted.body),
    ...outputOf(exchange, world, seals),
  };
}

function settingsOf(body: JsonObject): JsonObject {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  return {
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    metadata: body['metadata'] ?? {},
    model: asString(body['model']) ?? '',
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
  };
}

function outputOf({ accepted, prompt, reply }: Exchange, world: World, seals: ReasoningSeals): JsonObject {
  const { body } = accepted;
  const isCompacted = isCompactionDue(body, prompt.tokens);
  const outputTokens = reply.outputTokens + (isCompacted ? compactionTokens(prompt) : 0);
  return {
    output: [
      ...(isCompacted ? [writeCompaction(prompt, world, seals)] : []),
      ...writeItems(reply, world, seals),
    ],
    usage: {
      input_tokens: prompt.tokens,
      input_tokens_details: automaticCacheUse(world.cache, prompt, asString(body['model']) ?? ''),
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reply.thinkingTokens },
      total_tokens: prompt.tokens + outputTokens,
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
