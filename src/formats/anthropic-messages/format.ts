import type { Conversation, Format, Recognition } from '../../conversation/format.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message, ToolResultBlock, Usage } from '../../conversation/message.ts';
import { readContent, rewriteResult, textBlock, toParts } from '../content.ts';
import { findList, joinVerdicts, listIn, readResponseId, readTools, replaceUnderKey } from '../frame.ts';
import { rememberViews } from '../view-memory.ts';
import { asListed, readAnthropicBlock, withAnthropicContent } from './blocks.ts';

const readMessage = rememberViews(readView);

/** `POST /v1/messages`. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  summary: 'Anthropic Messages API: system apart, content blocks, results in the next user message',
  listKey: 'messages',
  tools: { resultsStand: 'next-message', callIdsUniqueAmong: 'all-calls' },
  userFirst: true,
  alternates: false,
  systemStands: 'before-answers',
  refusesBlankText: true,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList: (frame, list) => replaceUnderKey(frame.body, anthropicMessages.listKey, list),

  textBlock,
  failedResult(call, text) {
    const raw = { type: 'tool_result', tool_use_id: call.id, content: text, is_error: true };
    return readAnthropicBlock(raw) as ToolResultBlock; // a `tool_result` always reads as one
  },
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) => withAnthropicContent(raw, result.runBy, content)),
  userMessages: (blocks) => [readMessage({ role: 'user', content: toParts(blocks) })],
  withBlocks({ role, responseId, usage, raw: before }, blocks) {
    const raw = { ...(isObject(before) ? before : { role }), content: toParts(blocks) };
    return { role, blocks: asListed(blocks), responseId, usage, raw };
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, anthropicMessages.listKey, 'Anthropic Messages');
  const frame = isObject(body) ? body : {};
  return {
    format: anthropicMessages,
    frame: {
      body,
      list,
      model: asString(frame['model']),
      system: readContent(frame['system'], readAnthropicBlock),
      tools: readTools(frame['tools'], (tool) => (isObject(tool) ? tool['name'] : undefined)),
      continues: frame['thread'] === undefined ? undefined : 'thread',
      managedBy: findManagement(frame),
    },
    messages: list.map(readMessage),
  };
}

/**
 * A compaction by the provider comes back as a block that the next request begins with. Clearing of thinking or of tool
 * uses does not: it is done anew to whatever is sent, and goes together with a history that was folded before.
 */
function findManagement(body: JsonObject): string | undefined {
  if (isObject(body['compaction'])) return 'compaction';
  const management = body['context_management'];
  const edits = isObject(management) ? asList(management['edits']) : [];
  const compacts = edits.some(
    (edit) => isObject(edit) && asString(edit['type'])?.startsWith('compact_') === true,
  );
  return compacts ? 'context_management' : undefined;
}

function readView(raw: unknown): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const { role } = message;
  return {
    role: role === 'assistant' || role === 'system' ? role : 'user',
    blocks: readContent(message['content'], readAnthropicBlock),
    responseId: readResponseId(message['id']),
    usage: readUsage(message['usage']),
    raw,
  };
}

/** Total prompt of a response: what was read from and written to the cache is not part of `input_tokens`. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const promptTokens =
    asCount(usage['input_tokens']) +
    asCount(usage['cache_creation_input_tokens']) +
    asCount(usage['cache_read_input_tokens']);
  return { promptTokens, outputTokens: asCount(usage['output_tokens']) };
}

const OWN_BLOCKS = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'document',
]);
const FOREIGN_PARTS = new Set([
  'image_url',
  'input_audio',
  'input_text',
  'output_text',
  'input_image',
  'refusal',
]);
const FOREIGN_ROLES = new Set(['tool', 'function', 'developer', 'model']);

function recognise(value: unknown): Recognition {
  const list = listIn(value);
  if (list === undefined) return 'no';
  const frame = isObject(value) ? recogniseFrame(value) : 'possible';
  // Elsewhere the instructions are the first message; here that is a mistake, which only the frame can tell apart.
  const opensWithSystem = isObject(list[0]) && list[0]['role'] === 'system';
  if (frame === 'no' || (opensWithSystem && frame === 'possible')) return 'no';
  return joinVerdicts(list.map(recogniseMessage), frame);
}

function recogniseFrame(body: JsonObject): Recognition {
  if (body['anthropic_version'] !== undefined) return 'certain';
  const tools = asList(body['tools']);
  if (tools.some((tool) => isObject(tool) && isObject(tool['function']))) return 'no';
  const hasOwnTools = tools.some((tool) => isObject(tool) && isObject(tool['input_schema']));
  if (body['system'] !== undefined || hasOwnTools) return 'certain';
  const isClaude = /claude/i.test(asString(body['model'])?.slice(0, 200) ?? '');
  return isClaude && body['max_tokens'] !== undefined ? 'certain' : 'possible';
}

function recogniseMessage(message: unknown): Recognition {
  if (!isObject(message) || typeof message['role'] !== 'string' || message['parts'] !== undefined)
    return 'no';
  if (FOREIGN_ROLES.has(message['role']) || message['tool_calls'] !== undefined) return 'no';
  for (const block of asList(message['content'])) {
    const type = isObject(block) ? asString(block['type']) : undefined;
    if (type === undefined) continue;
    if (FOREIGN_PARTS.has(type)) return 'no';
    if (OWN_BLOCKS.has(type) || (isObject(block) && isObject(block['source']))) return 'certain';
  }
  return 'possible';
}
