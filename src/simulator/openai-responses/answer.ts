import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { asObject } from '../json.ts';
import { automaticCacheUse } from '../openai.ts';
import type { Prompt } from '../prompt.ts';
import type { Exchange, World } from '../provider.ts';
import type { FittedReply, ReplyPart } from '../reply.ts';
import { type NamedTool, writeCall } from './calls.ts';
import { followerIdOf, type ReasoningSeals } from './server-state.ts';

/** A `response` object. What the request set is repeated in it, as the API does. */
export function writeResponse(
  exchange: Exchange,
  tools: readonly NamedTool[],
  world: World,
  seals: ReasoningSeals,
): JsonObject {
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
    ...outputOf(exchange, tools, world, seals),
  };
}

function settingsOf(body: JsonObject): JsonObject {
  const reasoning = asObject(body['reasoning']);
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

function outputOf(
  { accepted, prompt, reply }: Exchange,
  tools: readonly NamedTool[],
  world: World,
  seals: ReasoningSeals,
): JsonObject {
  const isCompacted = isCompactionDue(accepted.body, prompt.tokens);
  const compaction = isCompacted ? [writeCompaction(prompt, world, seals)] : [];
  const outputTokens = reply.outputTokens + (isCompacted ? compactionTokens(prompt) : 0);
  return {
    output: [...compaction, ...writeItems(reply, tools, world, seals)],
    usage: writeUsage(prompt, accepted.model, world, { outputTokens, thinkingTokens: reply.thinkingTokens }),
  };
}

function writeUsage(
  prompt: Prompt,
  model: string,
  world: World,
  { outputTokens, thinkingTokens }: Pick<FittedReply, 'outputTokens' | 'thinkingTokens'>,
): object {
  return {
    input_tokens: prompt.tokens,
    input_tokens_details: automaticCacheUse(world, prompt, model),
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinkingTokens },
    total_tokens: prompt.tokens + outputTokens,
  };
}

/** The user's messages as they are, and one item for everything else. */
export function writeCompacted(
  { accepted, prompt }: Exchange,
  items: readonly unknown[],
  world: World,
  seals: ReasoningSeals,
): JsonObject {
  return {
    id: world.ids('resp_', 48),
    object: 'response.compaction',
    created_at: Math.floor(world.now() / 1000),
    output: [...userMessagesOf(items, world), writeCompaction(prompt, world, seals)],
    usage: writeUsage(prompt, accepted.model, world, {
      outputTokens: compactionTokens(prompt),
      thinkingTokens: 0,
    }),
  };
}

function writeItems(
  { parts, stop }: FittedReply,
  tools: readonly NamedTool[],
  { ids }: World,
  seals: ReasoningSeals,
): readonly object[] {
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
        return writeCall(part, tools, { idFor, ids });
    }
  };
  return parts.map(writeItem);
}

/** Whether the answer begins with a compaction: the input demands one, or is over the threshold that the request sets. */
function isCompactionDue(body: JsonObject, promptTokens: number): boolean {
  if (isTriggered(body)) return true;
  return asList(body['context_management']).some((entry) => {
    const threshold = isObject(entry) ? entry['compact_threshold'] : undefined;
    return typeof threshold === 'number' && promptTokens > threshold;
  });
}

/** Whether the last item of the input demands a compaction, and nothing else. */
export function isTriggered({ input }: JsonObject): boolean {
  return asObject(asList(input).at(-1))['type'] === 'compaction_trigger';
}

/** An item that stands for the whole prompt, as only the server can read it. */
function writeCompaction(prompt: Prompt, { ids }: World, seals: ReasoningSeals): JsonObject {
  const id = ids('cmp_', 48);
  return { id, type: 'compaction', encrypted_content: seals.encrypt(id, summaryOf(prompt)) };
}

/** What a compaction costs in output. */
function compactionTokens(prompt: Prompt): number {
  return Math.ceil(prompt.countText(summaryOf(prompt)));
}

function summaryOf({ conversation, tokens }: Prompt): string {
  return `Summary of ${conversation.messages.length} items in ${tokens} tokens.`;
}

/** The user's messages of a list, as the API gives them back. */
function userMessagesOf(items: readonly unknown[], { ids }: World): readonly JsonObject[] {
  return items.filter(isUserMessage).map((item) => ({
    id: ids('msg_', 48),
    ...item,
    type: 'message',
    status: 'completed',
    content: typeof item['content'] === 'string' ? [inputText(item['content'])] : asList(item['content']),
  }));
}

function inputText(text: string): JsonObject {
  return { type: 'input_text', text };
}

function isUserMessage(item: unknown): item is JsonObject {
  return isObject(item) && item['role'] === 'user';
}
