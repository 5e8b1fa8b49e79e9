import type { Conversation, Format, Frame, Recognition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, Role, ToolResultBlock } from '../../conversation/message.ts';
import { asOneText, dataOfUrl, joinTexts, mediaBlock, rewriteResult } from '../content.ts';
import { findList, readTools } from '../frame.ts';
import { rememberViews } from '../view-memory.ts';

/** `POST /v1/responses`. Every item is a message of its own. */
export const openaiResponses: Format = {
  name: 'openai-responses',
  summary: 'OpenAI Responses: a flat list of items; calls and outputs pair by call_id',
  tools: { resultsStand: 'later', callIdsUniqueAmong: 'open-calls' },
  userFirst: false,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage: (raw) => views.readMessage(raw),
  replaceList,

  textBlock: (text) => ({ type: 'text', text, raw: { type: 'input_text', text } }),
  failedResult(call, text) {
    const called = isObject(call.raw) ? asString(call.raw['type']) : undefined;
    const type = called?.endsWith('_call') === true ? `${called}_output` : 'function_call_output';
    const [block] = readItemBlocks({ type, call_id: call.id, output: text });
    return block as ToolResultBlock; // every item type that ends in `_output` reads as a result
  },
  withResultContent: (result, content) => rewriteResult(result, content, (raw) => withOutput(raw, content)),
  userMessages(blocks) {
    const results = blocks.filter((block) => block.type === 'tool-result');
    const others = blocks.filter((block) => block.type !== 'tool-result');
    const raws = results.map((block) => block.raw);
    if (others.length > 0) raws.push({ role: 'user', content: toItemParts(others, 'input_text') });
    return raws.map(openaiResponses.readMessage);
  },
  withBlocks(message, blocks) {
    const result = blocks.find((block) => block.type === 'tool-result');
    if (result !== undefined) return openaiResponses.readMessage(result.raw);
    // Any other item that is no message is one block: it is there or it is gone.
    if (!isObject(message.raw) || message.raw['content'] === undefined) return { ...message, blocks };
    const kind = message.role === 'assistant' ? 'output_text' : 'input_text';
    return openaiResponses.readMessage({ ...message.raw, content: toItemParts(blocks, kind) });
  },
};

const views = rememberViews(readMessage);

function read(body: unknown): Conversation {
  const frame = isObject(body) ? body : {};
  const input = frame['input'];
  // A bare string is a whole conversation of one user message.
  const list = typeof input === 'string' ? [input] : findList(body, 'input', 'OpenAI Responses');
  const instructions = frame['instructions'];
  return {
    format: openaiResponses,
    frame: {
      body,
      list,
      model: asString(frame['model']),
      system:
        typeof instructions === 'string' ? [{ type: 'text', text: instructions, raw: instructions }] : [],
      tools: readTools(frame['tools'], (tool) =>
        isObject(tool) ? (tool['name'] ?? tool['type']) : undefined,
      ),
      continues: findContinuation(frame, list),
      managedBy: findManagement(frame),
    },
    messages: views.readList(list),
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
  return isObject(frame.body) ? { ...frame.body, input: items } : items;
}

function readMessage(raw: unknown): Message {
  if (typeof raw === 'string') {
    return view('user', [{ type: 'text', text: raw, raw }], raw);
  }
  if (!isObject(raw)) return view('user', [{ type: 'other', wireType: undefined, raw }], raw);
  const type = asString(raw['type']);
  if (type === 'message' || (type === undefined && raw['role'] !== undefined)) {
    return view(readRole(raw['role']), readParts(raw['content']), raw);
  }
  const blocks = readItemBlocks(raw);
  return view(roleOfItem(raw, blocks), blocks, raw);
}

/** The `id` of an item names the item. The items of one response have different ids, and none says which response. */
function view(role: Role, blocks: readonly Block[], raw: unknown): Message {
  return { role, blocks, responseId: undefined, usage: undefined, raw };
}

function readParts(content: unknown): readonly Block[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, raw: content }];
  return Array.isArray(content) ? content.map(readResponsesPart) : [];
}

function readRole(role: unknown): Role {
  if (role === 'assistant') return 'assistant';
  return role === 'system' || role === 'developer' ? 'system' : 'user';
}

const CLIENT_ITEMS = new Set(['mcp_approval_response', 'compaction_trigger', 'item_reference']);
const SYSTEM_ITEMS = new Set(['configuration_update', 'additional_tools']);

/** Items without a role: outputs and approvals are the client's, settings are the system's, the rest is the model's. */
function roleOfItem(raw: JsonObject, blocks: readonly Block[]): Role {
  if (blocks.some((block) => block.type === 'tool-result')) return 'user';
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
  if (!Array.isArray(value)) return 'no';
  let found: Recognition = 'possible';
  for (const item of value) {
    const verdict = recogniseItem(item);
    if (verdict === 'no') return 'no';
    if (verdict === 'certain') found = 'certain';
  }
  return found;
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

/** The blocks of an item that is no message: a call, an output, reasoning, a compaction, or something unknown. */
export function readItemBlocks(raw: JsonObject): readonly Block[] {
  const type = asString(raw['type']);
  if (type === undefined) return [{ type: 'other', wireType: undefined, raw }];
  if (type === 'reasoning') return [readReasoning(raw)];
  if (COMPACTION_ITEMS.has(type)) return [{ type: 'compaction', text: asString(raw['message']) ?? '', raw }];
  if (type.endsWith('_output') && typeof raw['call_id'] === 'string') return [readOutput(raw)];
  if (type.endsWith('_call') && typeof raw['call_id'] === 'string') return [readCall(raw, type)];
  return [{ type: 'other', wireType: type, raw }];
}

/** The view of one content part of a message item or an output. */
export function readResponsesPart(raw: unknown): Block {
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
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
  return { type: 'other', wireType: type, raw };
}

/** Blocks as content parts; text that was plain string content becomes a part of the given kind. */
export function toItemParts(
  blocks: readonly Block[],
  kind: 'input_text' | 'output_text',
): readonly unknown[] {
  return blocks.map((block) => (typeof block.raw === 'string' ? { type: kind, text: block.raw } : block.raw));
}

/** Outputs that are text, and whether a list of parts will do as well. All others have a shape of their own. */
const takesParts: ReadonlyMap<unknown, boolean> = new Map([
  ['function_call_output', true],
  ['custom_tool_call_output', true],
  ['local_shell_call_output', false],
  ['apply_patch_call_output', false],
]);

/** The output item with other content; undefined where its output has a shape that no text fits into. */
export function withOutput(raw: JsonObject, content: readonly Block[]): ToolResultBlock | undefined {
  const mayHoldParts = takesParts.get(raw['type']);
  if (mayHoldParts === undefined) return undefined;
  const text = mayHoldParts ? asOneText(content) : joinTexts(content);
  const { output } = raw;
  if (isPayload(output)) return readOutput({ ...raw, output: { ...output, content: joinTexts(content) } });
  return readOutput({ ...raw, output: text ?? toItemParts(content, 'input_text') });
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
  return { type: 'tool-call', id: asString(raw['call_id']), name, input, runBy: 'client', raw };
}

function readOutput(raw: JsonObject): ToolResultBlock {
  const output = raw['output'];
  return {
    type: 'tool-result',
    callId: asString(raw['call_id']),
    name: undefined,
    content: readOutputContent(output),
    isError: isObject(output) && output['success'] === false,
    runBy: 'client',
    raw,
  };
}

function readOutputContent(output: unknown): readonly Block[] {
  if (output === undefined || output === null || output === '') return [];
  if (typeof output === 'string') return [{ type: 'text', text: output, raw: output }];
  if (Array.isArray(output)) return output.map(readResponsesPart);
  if (isPayload(output)) return readOutputContent(output['content']);
  return [readResponsesPart(output)];
}

/** `{content: "…", success}`: how files of Codex keep an output that can fail. */
function isPayload(output: unknown): output is JsonObject {
  return isObject(output) && typeof output['content'] === 'string' && typeof output['success'] === 'boolean';
}
