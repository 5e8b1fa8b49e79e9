import { modelFacts } from '../../contracts/anthropic-messages/models.ts';
import type { SealVerifier } from '../../contracts/contract.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';

/** A body without the thinking that its own request asks to be dropped, and the report about it. */
export interface Transformed {
  readonly body: JsonObject;
  readonly transformations: readonly object[];
}

/**
 * Drops the first thinking block that does not fit its prefix, and all thinking behind it, where the request asks for it
 * with `thinking.block_binding.prefix_mismatch_behavior: "drop_block"`. The very same body when nothing is dropped.
 * The contract has already refused requests that ask for nothing.
 */
export function dropForeignThinking(body: JsonObject, verify: SealVerifier): Transformed {
  if (!modelFacts(asString(body['model'])).bindsThinkingToPrefix) return { body, transformations: [] };
  const transformations: object[] = [];
  const messages = asList(body['messages']).map((message, messageIndex) => {
    if (!isObject(message) || message['role'] !== 'assistant') return message;
    const kept = asList(message['content']).filter((block, blockIndex) => {
      if (!isThinking(block)) return true;
      const path = `messages.${messageIndex}.content.${blockIndex}`;
      const isFailing =
        transformations.length > 0 || isForeign(verify({ kind: 'thinking', value: block, path, body }));
      if (isFailing)
        transformations.push({ type: 'thinking_dropped', path, reason: 'prefix_binding_mismatch' });
      return !isFailing;
    });
    return typeof message['content'] === 'string' ? message : { ...message, content: kept };
  });
  return transformations.length === 0
    ? { body, transformations }
    : { body: { ...body, messages }, transformations };
}

function isForeign(verdict: ReturnType<SealVerifier>): boolean {
  return verdict === 'foreign-prefix' || verdict === 'gap';
}

function isThinking(block: unknown): boolean {
  return isObject(block) && (block['type'] === 'thinking' || block['type'] === 'redacted_thinking');
}
