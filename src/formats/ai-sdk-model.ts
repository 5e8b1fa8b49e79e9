import type { Conversation, Format, ToolDefinition } from '../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import {
  type Block,
  type Message,
  type Role,
  type ToolResultBlock,
  textOf,
} from '../conversation/message.ts';
import { readModelContent, readModelPart, toModelParts } from './ai-sdk-model-parts.ts';
import { writeToolOutput } from './ai-sdk-output.ts';
import { recogniseModelMessages } from './ai-sdk-recognise.ts';
import { findList, readTools, replaceUnderKey } from './frame.ts';
import { readResponseId } from './response-id.ts';
import { rewriteResult } from './result-content.ts';
import { rememberViews } from './view-memory.ts';

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

  recognise: recogniseModelMessages,
  read,
  readMessage: (raw) => views.readMessage(raw),
  replaceList: (frame, list) => replaceUnderKey(frame.body, 'messages', list),

  textBlock: (text) => ({ type: 'text', text, raw: { type: 'text', text } }),
  failedResult(call, text) {
    const output = { type: 'error-text', value: text };
    const raw = { type: 'tool-result', toolCallId: call.id, toolName: call.name, output };
    return readModelPart(raw, 'client') as ToolResultBlock; // a `tool-result` always reads as one
  },
  // What the provider's own tool returned it takes back only as it was: other outputs are left out of the request.
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) => {
      if (result.runBy === 'server') return undefined;
      const output = writeToolOutput(raw['output'], content, result.isError);
      return readModelPart({ ...raw, output }, 'client') as ToolResultBlock; // still a `tool-result`
    }),
  userMessages(blocks) {
    const results = blocks.filter((block) => block.type === 'tool-result');
    const others = blocks.filter((block) => block.type !== 'tool-result');
    const raws: unknown[] = [];
    if (results.length > 0) raws.push({ role: 'tool', content: toModelParts(results) });
    if (others.length > 0) raws.push({ role: 'user', content: toModelParts(others) });
    return raws.map(aiSdkModel.readMessage);
  },
  withBlocks(message, blocks) {
    const raw = isObject(message.raw) ? message.raw : { role: message.role };
    // The content of a system message is a string and nothing else.
    const content = message.role === 'system' ? blocks.map(textOf).join('\n') : toModelParts(blocks);
    return aiSdkModel.readMessage({ ...raw, content });
  },
};

const views = rememberViews(readMessage);

function read(body: unknown): Conversation {
  const list = findList(body, 'messages', 'AI SDK');
  const frame = isObject(body) ? body : {};
  const model = frame['model'];
  return {
    format: aiSdkModel,
    frame: {
      body,
      list,
      model: asString(isObject(model) ? model['modelId'] : model),
      system: readInstructions(frame['instructions'] ?? frame['system']),
      tools: readToolSet(frame['tools']),
      // The SDK runs what was just approved and adds the results before it sends anything: they are not missing.
      continues: awaitsApprovedTools(list) ? 'tool-approval-response' : undefined,
      managedBy: undefined,
    },
    messages: views.readList(list),
  };
}

function readMessage(raw: unknown): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const role = readRole(message['role']);
  return {
    role,
    blocks: readModelContent(message['content'], role === 'assistant'),
    // Messages of a result carried the id of their answer up to version 4 of the SDK; later ones have none.
    responseId: role === 'assistant' ? readResponseId(message['id']) : undefined,
    usage: undefined,
    raw,
  };
}

function readRole(role: unknown): Role {
  return role === 'assistant' || role === 'system' ? role : 'user';
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
