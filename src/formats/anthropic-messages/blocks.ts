import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type {
  Block,
  MediaBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../conversation/message.ts';

/** A new text block. */
export function textBlock(text: string): TextBlock {
  return { type: 'text', text, raw: { type: 'text', text } };
}

/** The view of one content block. Blocks of unknown type, and known ones with a broken shape, become `other`. */
export function readAnthropicBlock(raw: unknown): Block {
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
  const type = asString(raw['type']);
  const reader = type === undefined ? undefined : (readers.get(type) ?? readerBySuffix(type));
  return reader?.(raw) ?? { type: 'other', wireType: type, raw };
}

/** The views of blocks as they are in a content list. Text that was plain string content becomes a text block there. */
export function asListed(blocks: readonly Block[]): readonly Block[] {
  if (blocks.every(({ raw }) => typeof raw !== 'string')) return blocks;
  return blocks.map((block) => (typeof block.raw === 'string' ? textBlock(block.raw) : block));
}

/** Blocks as a content list. Text that was plain string content becomes a text block there. */
export function toContentList(blocks: readonly Block[]): readonly unknown[] {
  return blocks.map((block) =>
    typeof block.raw === 'string' ? { type: 'text', text: block.raw } : block.raw,
  );
}

/** Results whose content a client may write. Those of all other server tools go back to the provider as they came. */
const OPEN_RESULTS = new Set<unknown>(['tool_result', 'mcp_tool_result']);

/** The result block with other content; the same one where only the provider may write it. */
export function withAnthropicContent(result: ToolResultBlock, content: readonly Block[]): ToolResultBlock {
  const { raw } = result;
  if (!isObject(raw) || !OPEN_RESULTS.has(raw['type'])) return result;
  const [only] = content;
  // Blank content reads as none at all, so it stays in a list.
  if (content.length === 1 && only?.type === 'text' && only.text !== '') {
    const { text } = only;
    const { callId, name, isError, runBy } = result;
    return {
      type: 'tool-result',
      callId,
      name,
      content: plainContent(text),
      isError,
      runBy,
      raw: { ...raw, content: text },
    };
  }
  return { ...result, content: asListed(content), raw: { ...raw, content: toContentList(content) } };
}

let lastContent: readonly [TextBlock] | undefined;

/** The view of content that is a plain text. Thousands of results get the same one. */
function plainContent(text: string): readonly [TextBlock] {
  if (lastContent?.[0].text !== text) lastContent = [{ type: 'text', text, raw: text }];
  return lastContent;
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
  const name = asString(raw['name']) ?? '';
  return { type: 'tool-call', id: asString(raw['id']), name, input: raw['input'], runBy, raw };
}

function readResult(raw: JsonObject, runBy: ToolResultBlock['runBy']): ToolResultBlock {
  return {
    type: 'tool-result',
    callId: asString(raw['tool_use_id']),
    name: undefined,
    content: readResultContent(raw['content']),
    isError: raw['is_error'] === true,
    runBy,
    raw,
  };
}

/** Content of a result: text, a list of blocks, or (server tools) an object of their own. One level deep. */
function readResultContent(content: unknown): readonly Block[] {
  if (content === undefined || content === null || content === '') return [];
  if (typeof content === 'string') return [{ type: 'text', text: content, raw: content }];
  if (!Array.isArray(content)) return [{ type: 'other', wireType: undefined, raw: content }];
  return content.map(readInnerBlock);
}

function readInnerBlock(raw: unknown): Block {
  const type = isObject(raw) ? raw['type'] : undefined;
  if (isObject(raw) && type === 'text') return readText(raw) ?? { type: 'other', wireType: 'text', raw };
  if (isObject(raw) && (type === 'image' || type === 'document')) return readMedia(raw, type);
  return { type: 'other', wireType: asString(type), raw };
}

function readMedia(raw: JsonObject, media: MediaBlock['media']): MediaBlock {
  const source: JsonObject = isObject(raw['source']) ? raw['source'] : {};
  const data = asString(source['data']);
  const isBase64 = source['type'] === 'base64';
  return {
    type: 'media',
    media,
    data: isBase64 ? data : undefined,
    text: source['type'] === 'text' ? data : readSourceText(source['content']),
    detail: undefined,
    raw,
  };
}

/** Text of a document whose source is a list of content blocks. */
function readSourceText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const texts = asList(content).map((block) => (isObject(block) ? asString(block['text']) : undefined));
  return texts.length === 0 ? undefined : texts.filter((text) => text !== undefined).join('\n');
}
