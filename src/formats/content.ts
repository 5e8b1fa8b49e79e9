/** Building blocks that all formats share: text, calls, results, media. */

import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import {
  type Block,
  type MediaBlock,
  type TextBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../conversation/message.ts';

/** The blocks of content that is a text, a list of parts, or nothing. */
export function readContent(content: unknown, readPart: (raw: unknown) => Block): readonly Block[] {
  if (typeof content !== 'string') return asList(content).map(readPart);
  return content === '' ? [] : [{ type: 'text', text: content, raw: content }];
}

/** Blocks as a list of parts. Text that was plain string content becomes a part of the given type. */
export function toParts(blocks: readonly Block[], type = 'text'): readonly unknown[] {
  return blocks.map(({ raw }) => (typeof raw === 'string' ? { type, text: raw } : raw));
}

/** A new text block, as most formats write it. */
export function textBlock(text: string): TextBlock {
  return { type: 'text', text, raw: textPart(text) };
}

/** A part of content that is text. */
export function textPart(text: string): JsonObject {
  return { type: 'text', text };
}

/** A view of what is not known. */
export function otherBlock(raw: unknown, wireType?: string): Block {
  return { type: 'other', wireType, raw };
}

/** What a format has read of a call. Ids and names may be values of any kind. */
interface CallFacts {
  readonly id: unknown;
  readonly name: unknown;
  readonly input: unknown;
  /** Default `client`. */
  readonly runBy?: ToolCallBlock['runBy'];
}

/** The view of a call. */
export function callBlock(raw: unknown, { id, name, input, runBy = 'client' }: CallFacts): ToolCallBlock {
  return { type: 'tool-call', id: asString(id), name: asString(name) ?? '', input, runBy, raw };
}

/** What a format has read of a result. */
interface ResultFacts {
  readonly callId: unknown;
  readonly name?: unknown;
  readonly content: readonly Block[];
  /** Default false. */
  readonly isError?: boolean;
  /** Default `client`. */
  readonly runBy?: ToolResultBlock['runBy'];
}

/** The view of a result. */
export function resultBlock(raw: unknown, facts: ResultFacts): ToolResultBlock {
  const { content, isError = false, runBy = 'client' } = facts;
  const callId = asString(facts.callId);
  return { type: 'tool-result', callId, name: asString(facts.name), content, isError, runBy, raw };
}

/** Whether the client was asked to run this. */
export function isClientCall(block: Block): block is ToolCallBlock {
  return block.type === 'tool-call' && block.runBy === 'client';
}

/** Whether the client ran what this is the result of. */
export function isClientResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result' && block.runBy === 'client';
}

/** Results apart from everything else, for formats in which they stand in messages of their own. */
export function splitResults(blocks: readonly Block[]): {
  readonly results: readonly Block[];
  readonly others: readonly Block[];
} {
  const isResult = ({ type }: Block) => type === 'tool-result';
  return { results: blocks.filter(isResult), others: blocks.filter((block) => !isResult(block)) };
}

/**
 * The result that `write` makes of the old one's raw value. The very same result when the content is its own, and when
 * `write` gives nothing because only the provider may write what its tool returned.
 */
export function rewriteResult(
  result: ToolResultBlock,
  content: readonly Block[],
  write: (raw: JsonObject) => ToolResultBlock | undefined,
): ToolResultBlock {
  if (isSameList(result.content, content) || !isObject(result.raw)) return result;
  return write(result.raw) ?? result;
}

/** Whether two lists hold the very same values. */
export function isSameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((entry, index) => entry === right[index]);
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

/** The base64 part of a `data:` URL, or undefined for every other URL. */
export function dataOfUrl(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith('data:')) return undefined;
  // The header is short; looking further would scan the whole payload of a URL without a comma.
  const comma = url.slice(0, 256).indexOf(',');
  return comma === -1 ? undefined : url.slice(comma + 1);
}

/** A media block; what is not known of it is undefined. */
export function mediaBlock(
  media: MediaBlock['media'],
  raw: unknown,
  { data, text, detail }: Partial<Pick<MediaBlock, 'data' | 'text' | 'detail'>>,
): MediaBlock {
  return { type: 'media', media, data, text, detail, raw };
}

/** What a media type (`image/png`) or its first half alone (`image`) stands for; everything else is a document. */
export function mediaOfType(mediaType: string): MediaBlock['media'] {
  const kind = mediaType.split('/', 1)[0];
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
