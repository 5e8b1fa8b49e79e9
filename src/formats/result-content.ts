import { isObject, type JsonObject } from '../conversation/json.ts';
import { type Block, type ToolResultBlock, textOf } from '../conversation/message.ts';

/**
 * The result that `write` makes of the old one's raw value. The very same result when the content is its own, and when
 * `write` gives nothing because only the provider may write what its tool returned.
 */
export function rewriteResult(
  result: ToolResultBlock,
  content: readonly Block[],
  write: (raw: JsonObject) => ToolResultBlock | undefined,
): ToolResultBlock {
  if (isSameContent(result.content, content) || !isObject(result.raw)) return result;
  return write(result.raw) ?? result;
}

/** The content as one text where it is nothing but text, which every server takes; else undefined. */
export function asOneText(content: readonly Block[]): string | undefined {
  return content.every(({ type }) => type === 'text') ? joinTexts(content) : undefined;
}

/** All readable text of the content. */
export function joinTexts(content: readonly Block[]): string {
  return content.map(textOf).join('\n');
}

/**
 * A value as the JSON that a model gets to read; empty for undefined. Undefined for what has no JSON: values from a
 * running program may hold cycles or big integers.
 */
export function toJson(value: unknown): string | undefined {
  if (value === undefined) return '';
  try {
    return JSON.stringify(value) as string | undefined; // a function or a symbol gives undefined
  } catch {
    return undefined;
  }
}

function isSameContent(before: readonly Block[], after: readonly Block[]): boolean {
  return before.length === after.length && before.every((block, index) => block === after[index]);
}
