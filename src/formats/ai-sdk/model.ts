import type { Conversation, Format, Recognition, ToolDefinition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, ToolResultBlock } from '../../conversation/message.ts';
import {
  callBlock,
  joinTexts,
  mediaOfType,
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
import {
  readCustomPart,
  readFile,
  readReasoningFile,
  readReasoningPart,
  readTextPart,
  readToolOutput,
  sealOnce,
  writeToolOutput,
} from './parts.ts';

const readMessage = rememberViews(readView);

/**
 * `ModelMessage[]` of the Vercel AI SDK, bare or as `{messages, instructions | system, tools}`.
 *
 * Results stand in `tool` messages behind the call's message. One may hold several, and several may follow one
 * another: the SDK joins them. Binary data stays the string, URL or array of bytes it came as.
 */
export const aiSdkModel: Format = {
  name: 'ai-sdk-model',
  summary:
    'Vercel AI SDK model messages: typed parts, results in tool messages, provider options on every part',
  listKey: 'messages',
  tools: {
    resultsStand: 'following-messages',
    callIdsUniqueAmong: 'open-calls',
    standBetween: ['tool-approval-response'],
  },
  userFirst: false,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList: (frame, list) => replaceUnderKey(frame.body, aiSdkModel.listKey, list),

  textBlock,
  failedResult(call, text) {
    const output = { type: 'error-text', value: text };
    const raw = { type: 'tool-result', toolCallId: call.id, toolName: call.name, output };
    return readResult(raw, 'client');
  },
  // What the provider's own tool returned it takes back only as it was: other outputs are left out of the request.
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) => {
      if (result.runBy === 'server') return undefined;
      const output = writeToolOutput(raw['output'], content, result.isError);
      return readResult({ ...raw, output }, 'client');
    }),
  userMessages(blocks) {
    const { results, others } = splitResults(blocks);
    return [
      ...(results.length === 0 ? [] : [{ role: 'tool', content: toParts(results) }]),
      ...(others.length === 0 ? [] : [{ role: 'user', content: toParts(others) }]),
    ].map(readMessage);
  },
  withBlocks(message, blocks) {
    const raw = isObject(message.raw) ? message.raw : { role: message.role };
    // The content of a system message is a string and nothing else.
    const content = message.role === 'system' ? joinTexts(blocks) : toParts(blocks);
    return readMessage({ ...raw, content });
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, aiSdkModel.listKey, 'AI SDK');
  const frame = isObject(body) ? body : {};
  const model = frame['model'];
  return {
    format: aiSdkModel,
    frame: {
      ...bareFrame(body, list),
      model: asString(isObject(model) ? model['modelId'] : model),
      system: readInstructions(frame['instructions'] ?? frame['system']),
      tools: readToolSet(frame['tools']),
      // The SDK runs what was just approved and adds the results before it sends anything: they are not missing.
      continues: awaitsApprovedTools(list) ? 'tool-approval-response' : undefined,
    },
    messages: list.map(readMessage),
  };
}

function readView(raw: unknown): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const { role } = message;
  const isAssistant = role === 'assistant';
  return {
    role: isAssistant || role === 'system' ? role : 'user',
    blocks: readModelContent(message['content'], isAssistant),
    // Messages of a result carried the id of their answer up to version 4 of the SDK; later ones have none.
    responseId: isAssistant ? readResponseId(message['id']) : undefined,
    usage: undefined,
    raw,
  };
}

/** Instructions are a string, a system message or a list of these. */
function readInstructions(instructions: unknown): readonly Block[] {
  const list = Array.isArray(instructions) ? instructions : [instructions];
  return list.flatMap((entry) => readModelContent(isObject(entry) ? entry['content'] : entry, false));
}

/** Tools by name, as `generateText` takes them, or a list of definitions, as a provider gets them. */
function readToolSet(tools: unknown): readonly ToolDefinition[] {
  if (!isObject(tools)) return readTools(tools, (tool) => (isObject(tool) ? tool['name'] : undefined));
  return Object.entries(tools).map(([name, tool]) => ({ name, raw: describeTool(name, tool) }));
}

/** What of a tool the model is told, as far as it is data: a live tool also holds functions and validators. */
function describeTool(name: string, tool: unknown): unknown {
  if (!isObject(tool)) return { name };
  const schema = tool['inputSchema'];
  const inner = isObject(schema) && isObject(schema['jsonSchema']) ? schema['jsonSchema'] : schema;
  const isData = isObject(inner) && !('~standard' in inner);
  return { name, description: tool['description'], inputSchema: isData ? inner : undefined };
}

function awaitsApprovedTools(list: readonly unknown[]): boolean {
  const last = list.at(-1);
  if (!isObject(last) || last['role'] !== 'tool') return false;
  const parts = asList(last['content']).filter(isObject);
  const approvals = parts.filter((part) => part['type'] === 'tool-approval-response');
  if (approvals.length === 0) return false;
  const answered = new Set(
    parts.filter((part) => part['type'] === 'tool-result').map((part) => part['toolCallId']),
  );
  const callOfApproval = new Map<unknown, unknown>();
  for (const message of list) {
    for (const part of isObject(message) ? asList(message['content']) : []) {
      if (!isObject(part) || part['type'] !== 'tool-approval-request') continue;
      callOfApproval.set(part['approvalId'], part['toolCallId']);
    }
  }
  return approvals.some((approval) => !answered.has(callOfApproval.get(approval['approvalId'])));
}

/** Content of a model message: a string or a list of parts. Results in the assistant's own message are a server's. */
function readModelContent(content: unknown, isAssistant: boolean): readonly Block[] {
  const runBy = isAssistant ? 'server' : 'client';
  return sealOnce(readContent(content, (part) => readModelPart(part, runBy)));
}

/** The view of one part. Parts of unknown type, and known ones with a broken shape, become `other`. */
function readModelPart(raw: unknown, resultRunBy: ToolResultBlock['runBy']): Block {
  if (!isObject(raw)) return otherBlock(raw);
  const type = asString(raw['type']);
  if (type === 'tool-result') return readResult(raw, resultRunBy);
  const reader = type === undefined ? undefined : readers.get(type);
  return reader?.(raw) ?? otherBlock(raw, type);
}

const readers = new Map<string, (raw: JsonObject) => Block | undefined>([
  ['text', (raw) => readTextPart(raw, raw['providerOptions'])],
  ['reasoning', (raw) => readReasoningPart(raw, raw['providerOptions'])],
  ['reasoning-file', readReasoningFile],
  ['image', (raw) => readFile(raw, raw['image'], 'image')],
  ['file', (raw) => readFile(raw, raw['data'], mediaOfType(asString(raw['mediaType']) ?? ''))],
  ['tool-call', readCall],
  ['custom', readCustomPart],
]);

function readCall(raw: JsonObject): Block {
  const { toolCallId: id, toolName: name, input, providerExecuted } = raw;
  return callBlock(raw, { id, name, input, runBy: providerExecuted === true ? 'server' : 'client' });
}

function readResult(raw: JsonObject, runBy: ToolResultBlock['runBy']): ToolResultBlock {
  const { toolCallId: callId, toolName: name, output } = raw;
  return resultBlock(raw, { callId, name, ...readToolOutput(output), runBy });
}

/** Messages whose content is all plain text look the same in other formats: they are `possible`. */
function recognise(value: unknown): Recognition {
  const list = listIn(value);
  if (list === undefined) return 'no';
  // Tools by name: every wire format has a list of them.
  const isOwnFrame = isObject(value) && isObject(value['tools']);
  return joinVerdicts(list.map(recogniseMessage), isOwnFrame ? 'certain' : 'possible');
}

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);
const WIRE_FIELDS = ['parts', 'tool_calls', 'tool_call_id', 'function_call', 'reasoning_content'];

function recogniseMessage(message: unknown): Recognition {
  if (!isObject(message) || WIRE_FIELDS.some((field) => message[field] !== undefined)) return 'no';
  const { role, content } = message;
  if (typeof role !== 'string' || !ROLES.has(role)) return 'no';
  if (role === 'tool' && !Array.isArray(content)) return 'no';
  if (typeof content !== 'string' && !Array.isArray(content)) return 'no';
  return joinVerdicts(
    asList(content).map(recognisePart),
    message['providerOptions'] ? 'certain' : 'possible',
  );
}

type PartCheck = (part: JsonObject) => boolean;

const hasCallId: PartCheck = (part) => typeof part['toolCallId'] === 'string';
const hasApprovalId: PartCheck = (part) => typeof part['approvalId'] === 'string';

/** What tells a part of each type from a part of the same type elsewhere. */
const ownParts = new Map<string, PartCheck>([
  ['tool-call', hasCallId],
  ['tool-result', hasCallId],
  ['tool-approval-request', hasApprovalId],
  ['tool-approval-response', hasApprovalId],
  ['reasoning', (part) => typeof part['text'] === 'string'],
  ['reasoning-file', (part) => part['data'] !== undefined],
  ['image', (part) => part['image'] !== undefined],
  ['file', (part) => part['data'] !== undefined && typeof part['mediaType'] === 'string'],
  ['custom', (part) => typeof part['kind'] === 'string'],
]);

function recognisePart(part: unknown): Recognition {
  const type = isObject(part) ? asString(part['type']) : undefined;
  if (!isObject(part) || type === undefined) return 'no';
  const isOwn = ownParts.get(type);
  if (isOwn !== undefined) return isOwn(part) ? 'certain' : 'no';
  // Types of the AI SDK have hyphens, those of the wire formats underscores: a new one may well be its own.
  if (type.includes('_')) return 'no';
  return part['providerOptions'] === undefined ? 'possible' : 'certain';
}
