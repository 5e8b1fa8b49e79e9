import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { CacheUse } from '../cache-ledger.ts';
import { asObject } from '../json.ts';
import type { Exchange, ServerEvent, World } from '../provider.ts';
import { inPieces, type ReplyPart, type ReplyStop } from '../reply.ts';
import { compactAtThreshold, type ThresholdCompaction } from './compaction.ts';
import type { ThinkingSeals } from './seals.ts';
import { writeServerCall } from './server-tools.ts';

const stopReasons: Readonly<Record<ReplyStop, string>> = {
  end: 'end_turn',
  'tool-call': 'tool_use',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  window: 'model_context_window_exceeded',
};

/** Shortest prefix that is cached for models of which the catalog does not say it. */
const defaultMinimumTokens = 1024;

/** A message object: content, stop reason, and usage with what the prompt cache did. */
export function writeMessage(exchange: Exchange, world: World, seals: ThinkingSeals): JsonObject {
  const { accepted, prompt, reply } = exchange;
  const { body, model, transformations = [] } = accepted;
  const shared = {
    id: world.ids('msg_'),
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: reply.stopSequence ?? null,
  };
  if (isObject(body['compaction'])) return { ...shared, ...writeCompaction(exchange, seals) };
  const compaction = compactAtThreshold(body, prompt);
  if (compaction !== undefined) {
    const content = compaction.pauses ? [] : writeContent(exchange, world, seals, true);
    return { ...shared, ...writeThreshold(exchange, compaction, content) };
  }
  const minimumTokens = findModel(model)?.cache?.minimumPrefixTokens ?? defaultMinimumTokens;
  const automatic = isObject(body['cache_control']) ? body['cache_control'] : undefined;
  const cache = world.cache.useBreakpoints(prompt, { minimumTokens, automatic });
  const content = writeContent(exchange, world, seals, false);
  return {
    ...shared,
    content,
    stop_reason: stopReason(reply.stop, content),
    usage: writeUsage(prompt.tokens, cache, exchange),
    ...(transformations.length > 0 ? { input_transformations: transformations } : {}),
  };
}

/** Calls that the provider has answered itself leave nothing to wait for. */
function stopReason(stop: ReplyStop, content: readonly JsonObject[]): string {
  const isAnswered = stop === 'tool-call' && !content.some(({ type }) => type === 'tool_use');
  return stopReasons[isAnswered ? 'end' : stop];
}

function writeContent(
  { accepted, reply }: Exchange,
  world: World,
  seals: ThinkingSeals,
  isCompacted: boolean,
): readonly JsonObject[] {
  const { body, model } = accepted;
  const sign = seals.signer(body, modelFacts(model).bindsThinkingToPrefix, isCompacted);
  const isOmitted = asObject(body['thinking'])['display'] === 'omitted';
  const writeBlocks = (part: ReplyPart): readonly JsonObject[] => {
    switch (part.type) {
      case 'thinking': {
        const thinking = isOmitted ? '' : part.text;
        return [{ type: 'thinking', thinking, signature: sign(thinking) }];
      }
      case 'text':
        return [{ type: 'text', text: part.text }];
      case 'tool-call':
        return (
          writeServerCall(part, body, world.ids) ?? [
            { type: 'tool_use', id: world.ids('toolu_'), name: part.name, input: part.input },
          ]
        );
    }
  };
  return reply.parts.flatMap(writeBlocks);
}

/** `input_tokens` is what neither was read from the cache nor written to it: the three add up to the prompt. */
function writeUsage(promptTokens: number, cache: CacheUse, { reply }: Exchange): object {
  const created = cache.writtenTokens + cache.writtenLongTokens;
  return {
    input_tokens: promptTokens - created - cache.readTokens,
    cache_creation_input_tokens: created,
    cache_read_input_tokens: cache.readTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cache.writtenTokens,
      ephemeral_1h_input_tokens: cache.writtenLongTokens,
    },
    output_tokens: reply.outputTokens,
    output_tokens_details: { thinking_tokens: reply.thinkingTokens },
    service_tier: 'standard',
  };
}

/** `compaction: {type: "summarize"}`: one signed block; its cost stands in `iterations` alone. */
function writeCompaction({ prompt }: Exchange, seals: ThinkingSeals): object {
  const { messages } = prompt.conversation;
  const content = `Summary of ${messages.length} messages in ${prompt.tokens} tokens.`;
  const outputTokens = Math.ceil(prompt.countText(content));
  return {
    content: [{ type: 'compaction', content, signature: seals.signCompaction(content) }],
    stop_reason: 'compaction',
    usage: {
      ...uncached(0, 0),
      iterations: [{ type: 'compaction', ...uncached(prompt.tokens, outputTokens) }],
    },
  };
}

/** A summary at a threshold: what the model says comes behind it, unless the request wants to look at it first. */
function writeThreshold(
  { prompt, reply }: Exchange,
  { block, pauses, outputTokens, compactedTokens }: ThresholdCompaction,
  content: readonly object[],
): object {
  const made = { type: 'compaction', ...uncached(prompt.tokens, outputTokens) };
  const said = pauses ? uncached(0, 0) : uncached(compactedTokens, reply.outputTokens);
  return {
    content: [block, ...content],
    stop_reason: pauses ? 'compaction' : stopReasons[reply.stop],
    usage: { ...said, iterations: pauses ? [made] : [made, { type: 'message', ...said }] },
  };
}

function uncached(inputTokens: number, outputTokens: number): object {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  };
}

/** A message as its stream: start, every block with its deltas, the end with the whole usage. */
export function messageEvents(message: JsonObject): readonly ServerEvent[] {
  const usage = asObject(message['usage']);
  const { input_transformations: transformations, ...rest } = message;
  const started = {
    ...rest,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  };
  const ended = {
    delta: { stop_reason: message['stop_reason'], stop_sequence: message['stop_sequence'] },
    usage,
    ...(transformations === undefined ? {} : { input_transformations: transformations }),
  };
  return [
    named('message_start', { message: started }),
    named('ping', {}),
    ...asList(message['content']).flatMap((block, index) => blockEvents(asObject(block), index)),
    named('message_delta', ended),
    named('message_stop', {}),
  ];
}

/** Every event repeats its name as the type of its data. */
export function named(type: string, fields: object): ServerEvent {
  return { event: type, data: { type, ...fields } };
}

/** A block as it starts, and what is said until it is whole. Blocks of other types arrive whole. */
function streamOf(block: JsonObject): readonly [start: JsonObject, ...deltas: readonly JsonObject[]] {
  switch (block['type']) {
    case 'text':
      return [{ ...block, text: '' }, ...textDeltas('text_delta', 'text', block['text'])];
    case 'thinking':
      return [
        { ...block, thinking: '', signature: '' },
        ...textDeltas('thinking_delta', 'thinking', block['thinking']),
        { type: 'signature_delta', signature: block['signature'] },
      ];
    case 'tool_use':
    case 'server_tool_use':
      return [
        { ...block, input: {} },
        { type: 'input_json_delta', partial_json: '' },
        ...textDeltas('input_json_delta', 'partial_json', JSON.stringify(block['input'])),
      ];
    case 'compaction': {
      const { content, encrypted_content, signature } = block;
      // One made on demand is signed and arrives whole.
      if (signature !== undefined) return [block];
      return [
        { ...block, content: null },
        { type: 'compaction_delta', content, encrypted_content },
      ];
    }
    default:
      return [block];
  }
}

function blockEvents(block: JsonObject, index: number): readonly ServerEvent[] {
  const [start, ...deltas] = streamOf(block);
  return [
    named('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ];
}

function textDeltas(type: string, field: string, text: unknown): readonly JsonObject[] {
  return inPieces(asString(text) ?? '').map((piece) => ({ type, [field]: piece }));
}
