import { asList, asString, type JsonObject } from '../../conversation/json.ts';
import { findModel } from '../../tokens/catalog.ts';
import { asObject } from '../json.ts';
import type { Exchange, ServerEvent, World } from '../provider.ts';
import { type FittedReply, inPieces, type ReplyPart, type ReplyStop } from '../reply.ts';
import { generationOf } from './models.ts';
import type { ThoughtSignatures } from './signatures.ts';

const finishReasons: Readonly<Record<ReplyStop, string>> = {
  end: 'STOP',
  'tool-call': 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  window: 'MAX_TOKENS',
};

/** Lifetime of what the API caches by itself, where the catalog does not say it. */
const defaultTtlSeconds = 300;

/** A `GenerateContentResponse`. */
export function writeAnswer(exchange: Exchange, world: World, signatures: ThoughtSignatures): JsonObject {
  const { accepted, replies } = exchange;
  const candidates = replies.map((reply, index) => ({
    content: { parts: writeParts(reply, exchange, world, signatures), role: 'model' },
    finishReason: finishReasons[reply.stop],
    index,
  }));
  return {
    candidates,
    usageMetadata: writeUsage(exchange, world),
    modelVersion: accepted.model,
    responseId: world.ids('', 22),
  };
}

function writeUsage({ accepted, prompt, replies }: Exchange, { cache }: World): JsonObject {
  const sum = (field: 'outputTokens' | 'thinkingTokens'): number =>
    replies.reduce((total, reply) => total + reply[field], 0);
  const ttlSeconds = findModel(accepted.model)?.cache?.ttlSeconds?.[0] ?? defaultTtlSeconds;
  const { readTokens } = cache.useAutomatic(prompt, ttlSeconds * 1000);
  const thoughts = sum('thinkingTokens');
  const outputTokens = sum('outputTokens');
  return {
    promptTokenCount: prompt.tokens,
    candidatesTokenCount: outputTokens - thoughts,
    totalTokenCount: prompt.tokens + outputTokens,
    ...(readTokens > 0 ? { cachedContentTokenCount: readTokens } : {}),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt.tokens }],
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  };
}

/**
 * Thoughts show only where the request asks for them. The first call of an answer is signed, or else its last text, by
 * models that think.
 */
function writeParts(
  reply: FittedReply,
  { accepted: { body, model } }: Exchange,
  { ids }: World,
  signatures: ThoughtSignatures,
): readonly JsonObject[] {
  const { includeThoughts } = asObject(asObject(body['generationConfig'])['thinkingConfig']);
  const generation = generationOf(model);
  const writePart = (part: ReplyPart): JsonObject => {
    switch (part.type) {
      case 'thinking':
        return { text: part.text, thought: true };
      case 'text':
        return { text: part.text };
      case 'tool-call': {
        // Calls have ids from the third generation on. Before, they are paired with their responses by name and order.
        const id = generation >= 3 ? { id: ids('', 8) } : {};
        return { functionCall: { ...id, name: part.name, args: part.input } };
      }
    }
  };
  const parts = reply.parts
    .filter(({ type }) => type !== 'thinking' || includeThoughts === true)
    .map(writePart);
  const thinks = reply.parts.some(({ type }) => type === 'thinking') || generation >= 3;
  const firstCall = parts.findIndex((part) => part['functionCall'] !== undefined);
  const signed = firstCall >= 0 ? firstCall : parts.findLastIndex((part) => part['thought'] !== true);
  return parts.map((part, index) =>
    thinks && index === signed ? { ...part, thoughtSignature: signatures.sign(model, part) } : part,
  );
}

/** An answer as chunks of the same shape: text in pieces, calls whole, why it ended in the last one, usage in each. */
export function answerEvents(answer: JsonObject): readonly ServerEvent[] {
  const { candidates, usageMetadata, ...shared } = answer;
  const { candidatesTokenCount: _said, thoughtsTokenCount: _thought, ...begun } = asObject(usageMetadata);
  const begunUsage = { ...begun, totalTokenCount: begun['promptTokenCount'] };
  const chunks = asList(candidates).flatMap((candidate) => candidateChunks(asObject(candidate)));
  return chunks.map((candidate, index) => ({
    data: {
      candidates: [candidate],
      usageMetadata: index === chunks.length - 1 ? usageMetadata : begunUsage,
      ...shared,
    },
  }));
}

function candidateChunks(candidate: JsonObject): readonly JsonObject[] {
  const { content, finishReason, index } = candidate;
  const parts = asList(asObject(content)['parts']).flatMap((part) => partPieces(asObject(part)));
  const pieces = parts.length > 0 ? parts : [{ text: '' }];
  return pieces.map((part, place) => ({
    content: { parts: [part], role: 'model' },
    ...(place === pieces.length - 1 ? { finishReason } : {}),
    index,
  }));
}

/** A signature comes with the whole of a call, and behind the last piece of a text as a part without one. */
function partPieces(part: JsonObject): readonly JsonObject[] {
  const text = asString(part['text']);
  if (text === undefined) return [part];
  const { thoughtSignature, text: _text, ...rest } = part;
  return [
    ...inPieces(text).map((piece) => ({ ...rest, text: piece })),
    ...(thoughtSignature === undefined ? [] : [{ text: '', thoughtSignature }]),
  ];
}
