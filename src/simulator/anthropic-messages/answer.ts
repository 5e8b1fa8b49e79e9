import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { findModel } from '../../tokens/catalog.ts';
import type { CacheUse } from '../cache-ledger.ts';
import type { Exchange, World } from '../provider.ts';
import type { ReplyPart, ReplyStop } from '../reply.ts';
import type { ThinkingSeals } from './seals.ts';
import { compactAtThreshold, type ThresholdCompaction } from './threshold.ts';

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
  const { body, transformations } = accepted;
  const shared = {
    id: world.ids('msg_'),
    type: 'message',
    role: 'assistant',
    model: asString(body['model']) ?? '',
    stop_sequence: reply.stopSequence ?? null,
  };
  if (isObject(body['compaction'])) return { ...shared, ...writeCompaction(exchange, seals) };
  const compaction = compactAtThreshold(body, prompt);
  if (compaction !== undefined) {
    const content = compaction.pauses ? [] : writeContent(exchange, world, seals, true);
    return { ...shared, ...writeThreshold(exchange, compaction, content) };
  }
  const automatic = isObject(body['cache_control']) ? body['cache_control'] : undefined;
  const cache = world.cache.useBreakpoints(prompt, { minimumTokens: minimumOf(shared.model), automatic });
  return {
    ...shared,
    content: writeContent(exchange, world, seals),
    stop_reason: stopReasons[reply.stop],
    usage: writeUsage(prompt.tokens, cache, exchange),
    ...(transformations.length > 0 ? { input_transformations: transformations } : {}),
  };
}

function minimumOf(model: string): number {
  return findModel(model)?.cache?.minimumPrefixTokens ?? defaultMinimumTokens;
}

function writeContent(
  { accepted, reply }: Exchange,
  world: World,
  seals: ThinkingSeals,
  isCompacted = false,
): readonly object[] {
  const { body } = accepted;
  const isBound = modelFacts(asString(body['model'])).bindsThinkingToPrefix;
  const sign = seals.signer(body, isBound, isCompacted);
  const isOmitted = isObject(body['thinking']) && body['thinking']['display'] === 'omitted';
  const writeBlock = (part: ReplyPart): object => {
    switch (part.type) {
      case 'thinking': {
        const thinking = isOmitted ? '' : part.text;
        return { type: 'thinking', thinking, signature: sign(thinking) };
      }
      case 'text':
        return { type: 'text', text: part.text };
      case 'tool-call':
        return { type: 'tool_use', id: world.ids('toolu_'), name: part.name, input: part.input };
    }
  };
  return reply.parts.map(writeBlock);
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
