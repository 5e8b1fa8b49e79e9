import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { asObject } from '../json.ts';
import { automaticCacheUse } from '../openai.ts';
import type { Prompt } from '../prompt.ts';
import type { Exchange, ServerEvent, World } from '../provider.ts';
import { type FittedReply, inPieces, type ReplyPart } from '../reply.ts';
import { followerIdOf, type ReasoningSeals } from './server-state.ts';

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

function outputOf({ accepted, prompt, reply }: Exchange, world: World, seals: ReasoningSeals): JsonObject {
  const isCompacted = isCompactionDue(accepted.body, prompt.tokens);
  const compaction = isCompacted ? [writeCompaction(prompt, world, seals)] : [];
  const outputTokens = reply.outputTokens + (isCompacted ? compactionTokens(prompt) : 0);
  return {
    output: [...compaction, ...writeItems(reply, world, seals)],
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

/** Whether the user wrote an item. */
export function isUserMessage(item: unknown): item is JsonObject {
  return isObject(item) && item['role'] === 'user';
}

type Draft = readonly [type: string, fields: object];

/** A response as its stream: created, in progress, every item with its parts and deltas, and how it ended. */
export function responseEvents(response: JsonObject): readonly ServerEvent[] {
  const ending = response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return [
    ...beginning(response),
    ...asList(response['output']).flatMap((item, index) => itemDrafts(asObject(item), index)),
    [ending, { response }] satisfies Draft,
  ].map(toEvent);
}

/** A stream that ends in `response.failed` before anything was said. */
export function failedResponseEvents(
  response: JsonObject,
  error: { readonly code: string; readonly message: string },
): readonly ServerEvent[] {
  const failed = { ...response, status: 'failed', error, output: [], usage: null };
  return [...beginning(response), ['response.failed', { response: failed }] satisfies Draft].map(toEvent);
}

function beginning(response: JsonObject): readonly Draft[] {
  const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  return [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
  ];
}

/** An event with its place in the stream. */
export function toEvent([type, fields]: Draft, sequenceNumber: number): ServerEvent {
  return { event: type, data: { type, sequence_number: sequenceNumber, ...fields } };
}

/** How an item of a type starts, and what is said before it is done. */
const itemStreams = new Map<
  string,
  { start(item: JsonObject): JsonObject; drafts(item: JsonObject, place: Place): readonly Draft[] }
>([
  [
    'reasoning',
    { start: (item) => ({ ...item, summary: [], encrypted_content: '' }), drafts: summaryDrafts },
  ],
  ['message', { start: (item) => ({ ...item, status: 'in_progress', content: [] }), drafts: textDrafts }],
  [
    'function_call',
    { start: (item) => ({ ...item, status: 'in_progress', arguments: '' }), drafts: argumentDrafts },
  ],
  [
    'compaction',
    {
      start: (item) => ({ ...item, encrypted_content: '' }),
      drafts: (_item, place) => [['response.compaction.compacting', place]],
    },
  ],
]);

/** Where events of an item belong. */
interface Place {
  readonly item_id: unknown;
  readonly output_index: number;
}

function itemDrafts(item: JsonObject, index: number): readonly Draft[] {
  const stream = itemStreams.get(asString(item['type']) ?? '');
  const place = { item_id: item['id'], output_index: index };
  return [
    ['response.output_item.added', { output_index: index, item: stream?.start(item) ?? item }],
    ...(stream?.drafts(item, place) ?? []),
    ['response.output_item.done', { output_index: index, item }],
  ];
}

function summaryDrafts(item: JsonObject, place: Place): readonly Draft[] {
  return asList(item['summary']).flatMap((part, index): readonly Draft[] => {
    const at = { ...place, summary_index: index };
    const text = asString(asObject(part)['text']) ?? '';
    return [
      ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }],
      ...inPieces(text).map((delta): Draft => ['response.reasoning_summary_text.delta', { ...at, delta }]),
      ['response.reasoning_summary_text.done', { ...at, text }],
      ['response.reasoning_summary_part.done', { ...at, part }],
    ];
  });
}

function textDrafts(item: JsonObject, place: Place): readonly Draft[] {
  return asList(item['content']).flatMap((part, index): readonly Draft[] => {
    const at = { ...place, content_index: index };
    const text = asString(asObject(part)['text']) ?? '';
    return [
      ['response.content_part.added', { ...at, part: { ...asObject(part), text: '' } }],
      ...inPieces(text).map((delta): Draft => ['response.output_text.delta', { ...at, delta, logprobs: [] }]),
      ['response.output_text.done', { ...at, text, logprobs: [] }],
      ['response.content_part.done', { ...at, part }],
    ];
  });
}

function argumentDrafts(item: JsonObject, place: Place): readonly Draft[] {
  const text = asString(item['arguments']) ?? '';
  return [
    ...inPieces(text).map((delta): Draft => ['response.function_call_arguments.delta', { ...place, delta }]),
    ['response.function_call_arguments.done', { ...place, name: item['name'], arguments: text }],
  ];
}
