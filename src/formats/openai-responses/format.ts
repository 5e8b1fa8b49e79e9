import type { Conversation, Format, Frame, Recognition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, Role, ToolResultBlock } from '../../conversation/message.ts';
import {
  asOneText,
  callBlock,
  dataOfUrl,
  joinTexts,
  mediaBlock,
  otherBlock,
  readContent,
  resultBlock,
  rewriteResult,
  splitResults,
  toParts,
} from '../content.ts';
import { findList, joinVerdicts, readTools } from '../frame.ts';
import { readRole } from '../openai-chat/format.ts';
import { rememberViews } from '../view-memory.ts';

const readMessage = rememberViews(readView);

/** `POST /v1/responses`. Every item is a message of its own. */
export const openaiResponses: Format = {
  name: 'openai-responses',
  summary: 'OpenAI Responses: a flat list of items; calls and outputs pair by call_id',
  listKey: 'input',
  tools: { resultsStand: 'later', callIdsUniqueAmong: 'open-calls' },
  userFirst: false,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList,

  textBlock: (text) => ({ type: 'text', text, raw: { type: 'input_text', text } }),
  failedResult(call, text) {
    const called = isObject(call.raw) ? asString(call.raw['type']) : undefined;
    const type = called?.endsWith('_call') === true ? `${called}_output` : 'function_call_output';
    return readOutput({ type, call_id: call.id, output: text });
  },
  withResultContent: (result, content) => rewriteResult(result, content, (raw) => withOutput(raw, content)),
  userMessages(blocks) {
    const { results, others } = splitResults(blocks);
    const said = others.length === 0 ? [] : [{ role: 'user', content: toParts(others, 'input_text') }];
    return [...results.map(({ raw }) => raw), ...said].map(readMessage);
  },
  withBlocks(message, blocks) {
    const result = blocks.find((block) => block.type === 'tool-result');
    if (result !== undefined) return readMessage(result.raw);
    // Any other item that is no message is one block: it is there or it is gone.
    if (!isObject(message.raw) || message.raw['content'] === undefined) return { ...message, blocks };
    const kind = message.role === 'assistant' ? 'output_text' : 'input_text';
    return readMessage({ ...message.raw, content: toParts(blocks, kind) });
  },
};

function read(body: unknown): Conversation {
  const frame = isObject(body) ? body : {};
  const input = frame['input'];
  // A bare string is a whole conversation of one user message.
  const list =
    typeof input === 'string' ? [input] : findList(body, openaiResponses.listKey, 'OpenAI Responses');
  const instructions = frame['instructions'];
  return {
    format: openaiResponses,
    frame: {
      body,
      list,
      model: asString(frame['model']),
      system: typeof instructions === 'string' ? [plainText(instructions)] : [],
      tools: readTools(frame['tools'], (tool) =>
        isObject(tool) ? (tool['name'] ?? tool['type']) : undefined,
      ),
      continues: findContinuation(frame, list),
      managedBy: findManagement(frame),
    },
    messages: list.map(readMessage),
  };
}

function findContinuation(body: JsonObject, list: readonly unknown[]): string | undefined {
  if (typeof body['previous_response_id'] === 'string') return 'previous_response_id';
  if (body['conversation'] !== undefined && body['conversation'] !== null) return 'conversation';
  const refers = list.some((item) => isObject(item) && item['type'] === 'item_reference');
  return refers ? 'item_reference' : undefined;
}

/** `truncation` is no compaction: nothing comes back from it, and a request that fits is not truncated. */
function findManagement(body: JsonObject): string | undefined {
  const compacts = asList(body['context_management']).some(
    (entry) => isObject(entry) && entry['type'] === 'compaction',
  );
  return compacts ? 'context_management' : undefined;
}

function replaceList(frame: Frame, list: readonly unknown[]): unknown {
  const items = list.map((item) => (typeof item === 'string' ? { role: 'user', content: item } : item));
  return isObject(frame.body) ? { ...frame.body, [openaiResponses.listKey]: items } : items;
}

function readView(raw: unknown): Message {
  if (typeof raw === 'string') return view('user', [plainText(raw)], raw);
  if (!isObject(raw)) return view('user', [otherBlock(raw)], raw);
  const type = asString(raw['type']);
  if (type === 'message' || (type === undefined && raw['role'] !== undefined)) {
    return view(readRole(raw['role']), readContent(raw['content'], readResponsesPart), raw);
  }
  const block = readItem(raw);
  return view(roleOfItem(raw, block), [block], raw);
}

/** The `id` of an item names the item. The items of one response have different ids, and none says which response. */
function view(role: Role, blocks: readonly Block[], raw: unknown): Message {
  return { role, blocks, responseId: undefined, usage: undefined, raw };
}

function plainText(text: string): Block {
  return { type: 'text', text, raw: text };
}

const CLIENT_ITEMS = new Set(['mcp_approval_response', 'compaction_trigger', 'item_reference']);
const SYSTEM_ITEMS = new Set(['configuration_update', 'additional_tools']);

/** Items without a role: outputs and approvals are the client's, settings are the system's, the rest is the model's. */
function roleOfItem(raw: JsonObject, block: Block): Role {
  if (block.type === 'tool-result') return 'user';
  const type = asString(raw['type']) ?? '';
  if (SYSTEM_ITEMS.has(type)) return 'system';
  return CLIENT_ITEMS.has(type) ? 'user' : 'assistant';
}

/** Types of LangChain's messages, and of content blocks. */
const FOREIGN_TYPES = new Set([
  'human',
  'ai',
  'system',
  'tool',
  'function',
  'generic',
  'remove',
  'constructor',
  'text',
]);
const OWN_PARTS = new Set(['input_text', 'output_text', 'input_image', 'input_file']);

function recognise(value: unknown): Recognition {
  if (isObject(value)) {
    if (value['messages'] !== undefined || value['contents'] !== undefined) return 'no';
    const input = value['input'];
    return typeof input === 'string' || Array.isArray(input) ? 'certain' : 'no';
  }
  return Array.isArray(value) ? joinVerdicts(value.map(recogniseItem), 'possible') : 'no';
}

function recogniseItem(item: unknown): Recognition {
  if (!isObject(item) || item['parts'] !== undefined || item['tool_calls'] !== undefined) return 'no';
  if (item['role'] === 'tool' || item['role'] === 'function') return 'no';
  if (typeof item['type'] === 'string') return FOREIGN_TYPES.has(item['type']) ? 'no' : 'certain';
  if (typeof item['role'] !== 'string') return 'no';
  if (!Array.isArray(item['content'])) return 'possible';
  const isOwn = item['content'].every(
    (part) => isObject(part) && OWN_PARTS.has(asString(part['type']) ?? ''),
  );
  return isOwn && item['content'].length > 0 ? 'certain' : 'no';
}

/** Item types whose summary only the provider can read, with the names Codex gives them in its files. */
const COMPACTION_ITEMS = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** The view of an item that is no message: a call, an output, reasoning, a compaction, or something unknown. */
function readItem(raw: JsonObject): Block {
  const type = asString(raw['type']) ?? '';
  if (type === 'reasoning') return readReasoning(raw);
  if (COMPACTION_ITEMS.has(type)) return { type: 'compaction', text: asString(raw['message']) ?? '', raw };
  if (type.endsWith('_output') && typeof raw['call_id'] === 'string') return readOutput(raw);
  if (type.endsWith('_call') && typeof raw['call_id'] === 'string') return readCall(raw, type);
  return otherBlock(raw, asString(raw['type']));
}

/** The view of one content part of a message item or an output. */
function readResponsesPart(raw: unknown): Block {
  if (!isObject(raw)) return otherBlock(raw);
  const type = asString(raw['type']);
  const text = type === 'refusal' ? raw['refusal'] : raw['text'];
  if (typeof text === 'string') return { type: 'text', text, raw };
  if (type === 'input_image') {
    return mediaBlock('image', raw, {
      data: dataOfUrl(asString(raw['image_url'])),
      detail: asString(raw['detail']),
    });
  }
  if (type === 'input_file') {
    const data = asString(raw['file_data']);
    return mediaBlock('document', raw, { data: dataOfUrl(data) ?? data });
  }
  if (type === 'input_audio') {
    const audio = isObject(raw['input_audio']) ? raw['input_audio'] : raw;
    return mediaBlock('audio', raw, { data: asString(audio['data']) });
  }
  return otherBlock(raw, type);
}

/** Outputs that are text, and whether a list of parts will do as well. All others have a shape of their own. */
const takesParts: ReadonlyMap<unknown, boolean> = new Map([
  ['function_call_output', true],
  ['custom_tool_call_output', true],
  ['local_shell_call_output', false],
  ['apply_patch_call_output', false],
]);

/** The output item with other content; undefined where its output has a shape that no text fits into. */
function withOutput(raw: JsonObject, content: readonly Block[]): ToolResultBlock | undefined {
  const mayHoldParts = takesParts.get(raw['type']);
  if (mayHoldParts === undefined) return undefined;
  const text = mayHoldParts ? asOneText(content) : joinTexts(content);
  const { output } = raw;
  if (isPayload(output)) return readOutput({ ...raw, output: { ...output, content: joinTexts(content) } });
  return readOutput({ ...raw, output: text ?? toParts(content, 'input_text') });
}

function readReasoning(raw: JsonObject): Block {
  const parts = [...asList(raw['summary']), ...asList(raw['content'])];
  const texts = parts.map((part) => (isObject(part) ? (asString(part['text']) ?? '') : ''));
  return { type: 'reasoning', text: texts.join('\n'), sealed: asString(raw['encrypted_content']), raw };
}

/** `function_call`, `custom_tool_call`, and the shell, patch and computer calls, whose input is their `action`. */
function readCall(raw: JsonObject, type: string): Block {
  const input = raw['arguments'] ?? raw['input'] ?? raw['action'] ?? raw['operation'];
  const name = asString(raw['name']) ?? type.slice(0, -'_call'.length);
  return callBlock(raw, { id: raw['call_id'], name, input });
}

function readOutput(raw: JsonObject): ToolResultBlock {
  const { call_id: callId, output } = raw;
  const isError = isObject(output) && output['success'] === false;
  return resultBlock(raw, { callId, content: readOutputContent(output), isError });
}

function readOutputContent(output: unknown): readonly Block[] {
  if (isPayload(output)) return readOutputContent(output['content']);
  const isListOrText = typeof output === 'string' || Array.isArray(output);
  if (!isListOrText && output !== undefined && output !== null) return [readResponsesPart(output)];
  return readContent(output, readResponsesPart);
}

/** `{content: "…", success}`: how files of Codex keep an output that can fail. */
function isPayload(output: unknown): output is JsonObject {
  return isObject(output) && typeof output['content'] === 'string' && typeof output['success'] === 'boolean';
}
