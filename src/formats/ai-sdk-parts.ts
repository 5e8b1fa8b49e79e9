import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, ReasoningBlock } from '../conversation/message.ts';

/** Names under which providers keep content that only they can read. */
const SEALS = ['redactedData', 'reasoningEncryptedContent'];
const SIGNATURES = ['signature', 'thoughtSignature'];

/**
 * The view of a text part. Anthropic's own summary is a text part marked as such.
 * @param options what providers attached: `providerOptions` of a model message, `providerMetadata` of a UI message
 */
export function readTextPart(raw: JsonObject, options: unknown): Block | undefined {
  const text = raw['text'];
  if (typeof text !== 'string') return undefined;
  const isCompaction = optionsPerProvider(options).some((own) => own['type'] === 'compaction');
  return { type: isCompaction ? 'compaction' : 'text', text, raw };
}

/** The view of a reasoning part. Without readable text its signature is what goes back to the model. */
export function readReasoningPart(raw: JsonObject, options: unknown): ReasoningBlock {
  const text = asString(raw['text']) ?? '';
  const sealed = findOption(options, SEALS) ?? (text === '' ? findOption(options, SIGNATURES) : undefined);
  return { type: 'reasoning', text, sealed, raw };
}

/** A file the model made while reasoning: kept or removed like the reasoning it belongs to, and not counted. */
export function readReasoningFile(raw: JsonObject): ReasoningBlock {
  return { type: 'reasoning', text: '', sealed: undefined, raw };
}

/** Content that only its provider understands, such as OpenAI's own summary (`openai.compaction`). */
export function readCustomPart(raw: JsonObject): Block {
  const isCompaction = asString(raw['kind'])?.endsWith('.compaction') === true;
  return isCompaction ? { type: 'compaction', text: '', raw } : { type: 'other', wireType: 'custom', raw };
}

/** Every summary part of one reasoning item repeats the item's encrypted content; the model gets it once. */
export function sealOnce(blocks: readonly Block[]): readonly Block[] {
  const seen = new Set<string>();
  return blocks.map((block) => {
    if (block.type !== 'reasoning' || block.sealed === undefined) return block;
    if (seen.has(block.sealed)) return { ...block, sealed: undefined };
    seen.add(block.sealed);
    return block;
  });
}

function findOption(options: unknown, names: readonly string[]): string | undefined {
  for (const own of optionsPerProvider(options)) {
    for (const name of names) {
      const value = asString(own[name]);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function optionsPerProvider(options: unknown): readonly JsonObject[] {
  return isObject(options) ? Object.values(options).filter(isObject) : [];
}
