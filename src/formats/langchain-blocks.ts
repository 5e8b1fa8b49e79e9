import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type {
  Block,
  MediaBlock,
  ReasoningBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../conversation/message.ts';
import { base64Of, mediaOfType } from './ai-sdk-media.ts';
import { readAnthropicBlock } from './anthropic-blocks.ts';
import { readGeminiPart } from './gemini-parts.ts';
import { readChatPart } from './openai-chat-parts.ts';

/** Content of a message: a string, a list of blocks, or nothing. */
export function readLangchainContent(content: unknown): readonly Block[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, raw: content }];
  return asList(content).map(readLangchainBlock);
}

/**
 * The view of one content block: LangChain's own, or one that a provider's adapter left as it came. What nobody knows
 * becomes `other`.
 */
function readLangchainBlock(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  const type = isObject(raw) ? asString(raw['type']) : undefined;
  if (!isObject(raw) || type === undefined) return { type: 'other', wireType: type, raw };
  return readers.get(type)?.(raw) ?? readAnthropicBlock(raw);
}

/** The view of reasoning, be it LangChain's block or an item of OpenAI's Responses API. */
export function readLangchainReasoning(raw: JsonObject): ReasoningBlock {
  const summary = asList(raw['summary']).map((part) =>
    isObject(part) ? (asString(part['text']) ?? '') : '',
  );
  const text = asString(raw['reasoning']) ?? summary.join('\n');
  const sealed = asString(raw['encrypted_content']) ?? (text === '' ? asString(raw['signature']) : undefined);
  return { type: 'reasoning', text, sealed, raw };
}

type BlockReader = (raw: JsonObject) => Block | undefined;

const readers = new Map<string, BlockReader>([
  ['reasoning', readLangchainReasoning],
  ['tool_call', (raw) => readCall(raw, 'client')],
  ['server_tool_call', (raw) => readCall(raw, 'server')],
  ['server_tool_call_result', readServerResult],
  ['function_call', readFunctionCall],
  ['functionCall', readGeminiPart],
  ['image', (raw) => (isObject(raw['source']) ? undefined : readMedia(raw, 'image'))],
  ['audio', (raw) => readMedia(raw, 'audio')],
  ['video', (raw) => readMedia(raw, 'video')],
  ['file', (raw) => (isObject(raw['file']) ? readChatPart(raw) : readMedia(raw, mediaOfFile(raw)))],
  ['text-plain', (raw) => readMedia(raw, 'document')],
  ['image_url', readChatPart],
  ['input_audio', readChatPart],
]);

function readCall(raw: JsonObject, runBy: ToolCallBlock['runBy']): ToolCallBlock {
  const name = asString(raw['name']) ?? '';
  return { type: 'tool-call', id: asString(raw['id']), name, input: raw['args'], runBy, raw };
}

function readFunctionCall(raw: JsonObject): ToolCallBlock {
  const id = asString(raw['call_id']) ?? asString(raw['id']);
  const name = asString(raw['name']) ?? '';
  return { type: 'tool-call', id, name, input: raw['arguments'], runBy: 'client', raw };
}

function readServerResult(raw: JsonObject): ToolResultBlock {
  const output = raw['output'];
  return {
    type: 'tool-result',
    callId: asString(raw['toolCallId']) ?? asString(raw['tool_call_id']),
    name: undefined,
    content: [{ type: 'other', wireType: undefined, raw: output }],
    isError: raw['status'] === 'error',
    runBy: 'server',
    raw,
  };
}

/** Both generations of multimodal blocks: `mimeType` with `data`, `url` or `fileId`, and `mime_type` with a `source_type`. */
function readMedia(raw: JsonObject, media: MediaBlock['media']): MediaBlock {
  const data = base64Of(raw['data'] ?? raw['url']);
  return { type: 'media', media, data, text: asString(raw['text']), detail: undefined, raw };
}

function mediaOfFile(raw: JsonObject): MediaBlock['media'] {
  return mediaOfType(asString(raw['mimeType']) ?? asString(raw['mime_type']) ?? '');
}
