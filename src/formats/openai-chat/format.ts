import type { Conversation, Format, Recognition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type {
  Block,
  MediaBlock,
  Message,
  Role,
  ToolCallBlock,
  ToolResultBlock,
} from '../../conversation/message.ts';
import {
  asOneText,
  callBlock,
  dataOfUrl,
  isSameList,
  mediaBlock,
  otherBlock,
  readContent,
  resultBlock,
  rewriteResult,
  splitResults,
  textBlock,
  toParts,
} from '../content.ts';
import {
  bareFrame,
  findList,
  joinVerdicts,
  listIn,
  readResponseId,
  readTools,
  replaceUnderKey,
} from '../frame.ts';
import { rememberViews } from '../view-memory.ts';

const readMessage = rememberViews(readView);

/** `POST /v1/chat/completions`, of OpenAI and of everybody who speaks it. */
export const openaiChat: Format = {
  name: 'openai-chat',
  summary: 'OpenAI Chat Completions: tool calls beside the content, every result a message of its own',
  listKey: 'messages',
  tools: { resultsStand: 'following-messages', callIdsUniqueAmong: 'open-calls' },
  userFirst: false,
  alternates: true,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: false,

  recognise,
  read,
  readMessage,
  replaceList: (frame, list) => replaceUnderKey(frame.body, openaiChat.listKey, list),

  textBlock,
  failedResult(call, text) {
    const isLegacy = call.id === undefined;
    const raw = isLegacy
      ? { role: 'function', name: call.name, content: text }
      : { role: 'tool', tool_call_id: call.id, content: text };
    return readResult(raw);
  },
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) =>
      readResult({ ...raw, content: asOneText(content) ?? toParts(content) }),
    ),
  userMessages(blocks) {
    const { results, others } = splitResults(blocks);
    const said = others.length === 0 ? [] : [{ role: 'user', content: toParts(others) }];
    return [...results.map(({ raw }) => raw), ...said].map(readMessage);
  },
  withBlocks(message, blocks) {
    const raw = isObject(message.raw) ? message.raw : { role: message.role };
    return readMessage(replaceBlocks(raw, message.blocks, blocks));
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, openaiChat.listKey, 'OpenAI Chat');
  const frame = isObject(body) ? body : {};
  return {
    format: openaiChat,
    frame: {
      ...bareFrame(body, list),
      model: asString(frame['model']),
      tools: readTools(frame['tools'] ?? frame['functions'], nameOfTool),
    },
    messages: list.map(readMessage),
  };
}

function nameOfTool(tool: unknown): unknown {
  if (!isObject(tool)) return undefined;
  const inner = tool['function'] ?? tool['custom'];
  return isObject(inner) ? inner['name'] : tool['name'];
}

function readView(raw: unknown): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const role = message['role'];
  const isResult = role === 'tool' || role === 'function';
  return {
    role: readRole(role),
    blocks: isResult ? [readResult(message)] : readBlocks(message),
    // The API gives the id to the completion. Harnesses keep it with the answer, or give every answer one of their own.
    responseId: role === 'assistant' ? readResponseId(message['id']) : undefined,
    usage: undefined,
    raw,
  };
}

/** Who speaks under a role of OpenAI's. */
export function readRole(role: unknown): Role {
  if (role === 'assistant') return 'assistant';
  return role === 'system' || role === 'developer' ? 'system' : 'user';
}

function readBlocks(message: JsonObject): readonly Block[] {
  const blocks = [...readReasoning(message), ...readContent(message['content'], readChatPart)];
  const refusal = message['refusal'];
  if (typeof refusal === 'string' && refusal !== '') blocks.push(readChatPart({ type: 'refusal', refusal }));
  for (const call of asList(message['tool_calls'])) blocks.push(readCall(call));
  if (isObject(message['function_call'])) blocks.push(readLegacyCall(message['function_call']));
  return blocks;
}

/** Reasoning as compatible servers send it: `reasoning_content` (DeepSeek, Qwen, vLLM) or `reasoning` (OpenRouter). */
function readReasoning(message: JsonObject): Block[] {
  const text = asString(message['reasoning_content']) ?? asString(message['reasoning']);
  return text === undefined || text === '' ? [] : [{ type: 'reasoning', text, sealed: undefined, raw: text }];
}

function readCall(raw: unknown): Block {
  if (!isObject(raw)) return otherBlock(raw);
  const called = raw['function'] ?? raw['custom'];
  const inner: JsonObject = isObject(called) ? called : {};
  const input = inner['arguments'] ?? inner['input'];
  return callBlock(raw, { id: raw['id'], name: inner['name'], input });
}

/** The call of 2023, before calls had ids: its result is the next `function` message of that name. */
export function readLegacyCall(raw: JsonObject): ToolCallBlock {
  return callBlock(raw, { id: undefined, name: raw['name'], input: raw['arguments'] });
}

function readResult(raw: JsonObject): ToolResultBlock {
  const content = readContent(raw['content'], readChatPart);
  return resultBlock(raw, { callId: raw['tool_call_id'], name: raw['name'], content });
}

/** The message with only these blocks. Fields whose blocks are all kept stay the very same values. */
function replaceBlocks(raw: JsonObject, before: readonly Block[], after: readonly Block[]): JsonObject {
  const result = after.find((block) => block.type === 'tool-result');
  if (result !== undefined && isObject(result.raw)) return result.raw;
  const { tool_calls: _calls, function_call: legacy, content, refusal, ...rest } = raw;
  const calls = after.filter((block) => block.type === 'tool-call' && block.raw !== legacy);
  const isLegacyKept = legacy !== undefined && after.some((block) => block.raw === legacy);
  // A refusal stands beside the content until the content becomes a list of parts, which then holds it.
  const said = isSameList(before.filter(isContent), after.filter(isContent))
    ? { content, ...(refusal === undefined ? {} : { refusal }) }
    : { content: toParts(after.filter(isContent)) };
  return {
    ...rest,
    ...said,
    ...(calls.length > 0 ? { tool_calls: calls.map((block) => block.raw) } : {}),
    ...(isLegacyKept ? { function_call: legacy } : {}),
  };
}

function isContent(block: Block): boolean {
  return block.type === 'text' || block.type === 'media' || block.type === 'other';
}

const OWN_ROLES = new Set(['tool', 'function', 'developer']);
const OWN_PARTS = new Set(['image_url', 'input_audio', 'refusal']);
const FOREIGN_BLOCKS = new Set([
  ...['tool-call', 'tool-result', 'tool-approval-request', 'tool-approval-response'],
  ...['tool_use', 'tool_result', 'thinking', 'input_text', 'output_text', 'input_image'],
]);

function recognise(value: unknown): Recognition {
  const list = listIn(value);
  if (list === undefined) return 'no';
  const tools = (isObject(value) ? asList(value['tools']) : []).filter(isObject);
  if (tools.some((tool) => isObject(tool['input_schema']))) return 'no';
  const hasOwnTools = tools.some((tool) => isObject(tool['function']));
  return joinVerdicts(list.map(recogniseMessage), hasOwnTools ? 'certain' : 'possible');
}

function recogniseMessage(message: unknown, index: number): Recognition {
  if (!isObject(message) || typeof message['role'] !== 'string') return 'no';
  if (message['parts'] !== undefined || message['role'] === 'model') return 'no';
  for (const part of asList(message['content'])) {
    const type = isObject(part) ? asString(part['type']) : undefined;
    if (type === undefined) continue;
    if (FOREIGN_BLOCKS.has(type)) return 'no';
    if (OWN_PARTS.has(type)) return 'certain';
  }
  const isOwn = OWN_ROLES.has(message['role']) || message['tool_calls'] !== undefined;
  return isOwn || (message['role'] === 'system' && index === 0) ? 'certain' : 'possible';
}

/** The view of one content part. */
export function readChatPart(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  if (!isObject(raw)) return otherBlock(raw);
  const type = asString(raw['type']);
  const text = type === 'refusal' ? raw['refusal'] : raw['text'];
  if ((type === 'text' || type === 'refusal') && typeof text === 'string') return { type: 'text', text, raw };
  return readMedia(type, raw) ?? otherBlock(raw, type);
}

function readMedia(type: string | undefined, raw: JsonObject): MediaBlock | undefined {
  if (type === 'image_url') {
    const image: JsonObject = isObject(raw['image_url']) ? raw['image_url'] : { url: raw['image_url'] };
    return mediaBlock('image', raw, {
      data: dataOfUrl(asString(image['url'])),
      detail: asString(image['detail']),
    });
  }
  if (type === 'input_audio' && isObject(raw['input_audio'])) {
    return mediaBlock('audio', raw, { data: asString(raw['input_audio']['data']) });
  }
  if (type === 'file' && isObject(raw['file'])) {
    const data = asString(raw['file']['file_data']);
    return mediaBlock('document', raw, { data: dataOfUrl(data) ?? data });
  }
  return undefined;
}
