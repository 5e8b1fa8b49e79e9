import { isObject, type JsonObject } from '../conversation/json.ts';
import { type Block, type MediaBlock, type ToolResultBlock, textOf } from '../conversation/message.ts';

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

/** The base64 part of a `data:` URL, or undefined for every other URL. */
export function dataOfUrl(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith('data:')) return undefined;
  // The header is short; looking further would scan the whole payload of a URL without a comma.
  const comma = url.slice(0, 256).indexOf(',');
  return comma === -1 ? undefined : url.slice(comma + 1);
}

/** What is known of a picture, a document or a recording besides that it is there. */
interface MediaFacts {
  readonly data?: string | undefined;
  readonly text?: string | undefined;
  readonly detail?: string | undefined;
}

/** A media block; what is not known of it is undefined. */
export function mediaBlock(media: MediaBlock['media'], raw: unknown, facts: MediaFacts = {}): MediaBlock {
  return { type: 'media', media, data: facts.data, text: facts.text, detail: facts.detail, raw };
}
