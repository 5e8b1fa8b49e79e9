/** Content blocks of Anthropic Messages: reads them as views, and writes results with other content. */

import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type {
  Block,
  MediaBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../conversation/message.ts';
import {
  callBlock,
  mediaBlock,
  otherBlock,
  readContent,
  resultBlock,
  textBlock,
  toParts,
} from '../content.ts';

/** The view of one content block. Blocks of unknown type, and known ones with a broken shape, become `other`. */
export function readAnthropicBlock(raw: unknown): Block {
  if (!isObject(raw)) return otherBlock(raw);
  const type = asString(raw['type']);
  const reader = type === undefined ? undefined : (readers.get(type) ?? readerBySuffix(type));
  return reader?.(raw) ?? otherBlock(raw, type);
}

/** The views of blocks as they are in a content list. Text that was plain string content becomes a text block there. */
export function asListed(blocks: readonly Block[]): readonly Block[] {
  if (blocks.every(({ raw }) => typeof raw !== 'string')) return blocks;
  return blocks.map((block) => (typeof block.raw === 'string' ? textBlock(block.raw) : block));
}

/** Results whose content a client may write. Those of all other server tools go back to the provider as they came. */
const OPEN_RESULTS = new Set<unknown>(['tool_result', 'mcp_tool_result']);

/** The result block with other content; undefined where only the provider may write it. */
export function withAnthropicContent(
  raw: JsonObject,
  runBy: ToolResultBlock['runBy'],
  content: readonly Block[],
): ToolResultBlock | undefined {
  if (!OPEN_RESULTS.has(raw['type'])) return undefined;
  const [only] = content;
  // Blank content reads as none at all, so it stays in a list.
  const isOneText = content.length === 1 && only?.type === 'text' && only.text !== '';
  return readResult({ ...raw, content: isOneText ? only.text : toParts(content) }, runBy);
}

type BlockReader = (raw: JsonObject) => Block | undefined;

const readers = new Map<string, BlockReader>([
  ['text', readText],
  ['thinking', readThinking],
  ['redacted_thinking', (raw) => ({ type: 'reasoning', text: '', sealed: asString(raw['data']) ?? '', raw })],
  ['tool_use', (raw) => readCall(raw, 'client')],
  ['server_tool_use', (raw) => readCall(raw, 'server')],
  ['mcp_tool_use', (raw) => readCall(raw, 'server')],
  ['tool_result', (raw) => readResult(raw, 'client')],
  ['image', (raw) => readMedia(raw, 'image')],
  ['document', (raw) => readMedia(raw, 'document')],
  ['compaction', (raw) => ({ type: 'compaction', text: asString(raw['content']) ?? '', raw })],
]);

/** Results of server tools: `web_search_tool_result`, `mcp_tool_result`, and those that are yet to come. */
function readerBySuffix(type: string): BlockReader | undefined {
  return type.endsWith('_tool_result') ? (raw) => readResult(raw, 'server') : undefined;
}

function readText(raw: JsonObject): TextBlock | undefined {
  const text = raw['text'];
  return typeof text === 'string' ? { type: 'text', text, raw } : undefined;
}

/** Thinking whose text was left out of the answer still goes back to the model inside its signature. */
function readThinking(raw: JsonObject): ReasoningBlock {
  const text = asString(raw['thinking']) ?? '';
  return { type: 'reasoning', text, sealed: text === '' ? asString(raw['signature']) : undefined, raw };
}

function readCall(raw: JsonObject, runBy: ToolCallBlock['runBy']): ToolCallBlock {
  return callBlock(raw, { id: raw['id'], name: raw['name'], input: raw['input'], runBy });
}

function readResult(raw: JsonObject, runBy: ToolResultBlock['runBy']): ToolResultBlock {
  const content = readResultContent(raw['content']);
  return resultBlock(raw, { callId: raw['tool_use_id'], content, isError: raw['is_error'] === true, runBy });
}

/** Content of a result: text, a list of blocks, or (server tools) an object of their own. One level deep. */
function readResultContent(content: unknown): readonly Block[] {
  const isListOrText = typeof content === 'string' || Array.isArray(content);
  if (!isListOrText && content !== undefined && content !== null) return [otherBlock(content)];
  return readContent(content, readInnerBlock);
}

function readInnerBlock(raw: unknown): Block {
  const type = isObject(raw) ? raw['type'] : undefined;
  const isKnown = type === 'text' || type === 'image' || type === 'document';
  return isKnown ? readAnthropicBlock(raw) : otherBlock(raw, asString(type));
}

function readMedia(raw: JsonObject, media: MediaBlock['media']): MediaBlock {
  const source: JsonObject = isObject(raw['source']) ? raw['source'] : {};
  const data = asString(source['data']);
  return mediaBlock(media, raw, {
    data: source['type'] === 'base64' ? data : undefined,
    text: source['type'] === 'text' ? data : readSourceText(source['content']),
  });
}

/** Text of a document whose source is a list of content blocks. */
function readSourceText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const texts = asList(content).map((block) => (isObject(block) ? asString(block['text']) : undefined));
  return texts.length === 0 ? undefined : texts.filter((text) => text !== undefined).join('\n');
}
