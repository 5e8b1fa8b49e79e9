import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { ToolCallBlock } from '../../conversation/message.ts';
import { ChangeLog } from '../change-log.ts';
import { toJson } from '../content.ts';
import {
  AS_TEXT,
  type IdRules,
  LEFT_OUT,
  looseText,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  REMOVED_FIELD,
  unwrapMessage,
  withoutFields,
} from '../mend/shaping.ts';
import {
  beginAtSummary,
  dropBrokenServerTools,
  endAsAllowed,
  markAtMostFour,
  placeSystemMessages,
  startWithUser,
} from './mend-order.ts';

const ids: IdRules = {
  maxLength: 64,
  isLegal: isLegalId,
  needsId: (_call: ToolCallBlock) => true,
  withCallId: (call, id) => ({ ...call, id }),
  withAnsweredId: (result, id) => ({ ...result, tool_use_id: id }),
};

/** Anthropic Messages. */
export const anthropicMender: Mender = {
  shape,
  idRules: () => ids,
  mayShareAnswer: true,
  resultMediaFitsUser: true,
  prepare: beginAtSummary,
  arrange(messages, context) {
    const whole = dropBrokenServerTools(messages, context);
    const placed = placeSystemMessages(whole, context);
    return markAtMostFour(endAsAllowed(startWithUser(placed, context), context), context);
  },
  withInstructions(body, texts) {
    const { system } = body;
    const before =
      typeof system === 'string' && system !== '' ? [{ type: 'text', text: system }] : asList(system);
    return { ...body, system: [...before, ...texts.map((text) => ({ type: 'text', text }))] };
  },
};

const FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['user', new Set(['role', 'content'])],
  ['assistant', new Set(['role', 'content'])],
  ['system', new Set(['role', 'content', 'clear_at', 'output_config'])],
]);

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { log } = context;
  const message = unwrapMessage(raw, hasContent, log);
  if (!isObject(message) || (!hasContent(message) && typeof message['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', content: text }];
  }
  const role = plainRole(message['role']);
  const content = shapeContent(message['content'], context);
  if (content === undefined) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  if (role !== message['role']) log.add('message of an unknown role', `taken for the ${role}'s`);
  const named = role === message['role'] ? message : { ...message, role };
  const filled = content === message['content'] ? named : { ...named, content };
  return splitByRole(withKnownFields(filled, role, context), role, context);
}

function hasContent(value: JsonObject): boolean {
  return (value['content'] ?? null) !== null;
}

/** The fields that the API takes. Only a request has to do without the others. */
function withKnownFields(message: JsonObject, role: string, { isRequest, log }: MendContext): JsonObject {
  if (!isRequest) return message;
  const known = withoutFields(message, (name) => FIELDS.get(role)?.has(name) !== true);
  if (known !== message) log.add('message with fields that the provider refuses', 'sent without them');
  return known;
}

/** Content that the API can read; undefined when nothing is left of it. */
function shapeContent(content: unknown, { log }: MendContext): unknown {
  if (typeof content === 'string') return content.trim() === '' ? undefined : content;
  if (content === undefined || content === null) return undefined;
  const list = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  if (list !== content) log.add('content that is no list', 'put into one');
  const blocks = list.flatMap((block) => shapeAnthropicBlock(block, log));
  if (blocks.length === 0) return undefined;
  const isSame = blocks.length === list.length && blocks.every((block, index) => block === list[index]);
  return isSame ? list : blocks;
}

/** The one role that may say a block; undefined for what everybody may say. */
function roleOfBlock(block: unknown): 'user' | 'assistant' | undefined {
  const type = isObject(block) ? block['type'] : undefined;
  if (type === 'tool_result') return 'user';
  if (typeof type !== 'string') return undefined;
  const isCall = type === 'tool_use' || type === 'server_tool_use' || type === 'mcp_tool_use';
  if (isCall || type === 'thinking' || type === 'redacted_thinking') return 'assistant';
  if (type.endsWith('_tool_result')) return 'assistant';
  const isUnsignedSummary = type === 'compaction' && isObject(block) && (block['signature'] ?? null) === null;
  return isUnsignedSummary ? 'assistant' : undefined;
}

/** Blocks that stand in the wrong role get a message of the right one, in their place. */
function splitByRole(message: JsonObject, role: string, { log }: MendContext): readonly unknown[] {
  const content = asList(message['content']);
  const roles = content.map((block) => roleOfBlock(block) ?? role);
  const strays = roles.filter((one) => one !== role).length;
  if (strays === 0) return [message];
  log.add('block in a message of the wrong role', 'moved to a message of its own', strays);
  const parts: { readonly role: string; readonly content: unknown[] }[] = [];
  for (const [index, block] of content.entries()) {
    const own = roles[index] ?? role;
    const last = parts.at(-1);
    if (last?.role === own) last.content.push(block);
    else parts.push({ role: own, content: [block] });
  }
  return parts.map((part) => (part.role === role ? { ...message, content: part.content } : part));
}

/** A content block in a shape that the API can read: the very same value, another one in its place, or none. */
export function shapeAnthropicBlock(raw: unknown, log: ChangeLog): readonly unknown[] {
  if (!isObject(raw) || typeof raw['type'] !== 'string') return shapeLoose(raw, log);
  const shape = shapes.get(raw['type']);
  const shaped = shape === undefined ? [raw] : shape(raw, log);
  return shaped.map((block) => (isObject(block) ? withSoundMark(block, log) : block));
}

/** A value that is no block: words stay words, data is shown as JSON. */
function shapeLoose(raw: unknown, log: ChangeLog): readonly unknown[] {
  const text = isObject(raw) && typeof raw['text'] === 'string' ? raw['text'] : asWords(raw);
  log.add('value that is no content block', text.trim() === '' ? LEFT_OUT : AS_TEXT);
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function asWords(value: unknown): string {
  return typeof value === 'string' ? value : (toJson(value ?? undefined) ?? '');
}

/** Whether the API takes this as the id of a call. */
export function isLegalId(id: unknown): boolean {
  return typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id);
}

type Shape = (block: JsonObject, log: ChangeLog) => readonly unknown[];

const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['text', shapeText],
  ['image', (block, log) => shapeMedia(block, 'image', log)],
  ['document', (block, log) => shapeMedia(block, 'document', log)],
  ['thinking', (block, log) => shapeThinking(block, ['thinking', 'signature'], log)],
  ['redacted_thinking', (block, log) => shapeThinking(block, ['data'], log)],
  ['tool_use', shapeCall],
  [
    'server_tool_use',
    (block, log) => (isLegalId(block['id']) ? keepWhole(block, ['id', 'name'], log) : leaveOut(log)),
  ],
  ['mcp_tool_use', (block, log) => keepWhole(block, ['id', 'name', 'server_name'], log)],
  ['tool_result', shapeResult],
  ['mcp_tool_result', (block, log) => keepWhole(block, ['tool_use_id'], log)],
  ...[
    'web_search_tool_result',
    'web_fetch_tool_result',
    'code_execution_tool_result',
    'bash_code_execution_tool_result',
    'text_editor_code_execution_tool_result',
    'tool_search_tool_result',
    'advisor_tool_result',
  ].map((type): [string, Shape] => [type, shapeServerResult]),
  ['container_upload', (block, log) => keepWhole(block, ['file_id'], log)],
  ['compaction', shapeCompaction],
]);

function shapeText(block: JsonObject, log: ChangeLog): readonly unknown[] {
  const { text } = block;
  if (typeof text === 'string' && text.trim() !== '') return [block];
  const words = typeof text === 'string' ? '' : asWords(text);
  log.add('text block without text', words.trim() === '' ? LEFT_OUT : AS_TEXT);
  return words.trim() === '' ? [] : [{ ...block, text: words }];
}

/** Where each kind of source keeps what it stands for. Kinds that are not listed pass. */
const SOURCE_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['base64', 'data'],
  ['text', 'data'],
  ['url', 'url'],
  ['file', 'file_id'],
]);

function shapeMedia(block: JsonObject, media: 'image' | 'document', log: ChangeLog): readonly unknown[] {
  const { source } = block;
  const field = isObject(source) ? SOURCE_FIELDS.get(source['type']) : undefined;
  const isThere = isObject(source) && (field === undefined || isFilled(source[field]));
  if (isThere) return [block];
  log.add(`${media} without data`, NOTED);
  return [{ type: 'text', text: mediaNote(media) }];
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Thinking goes back as it came or not at all. */
function shapeThinking(block: JsonObject, fields: readonly string[], log: ChangeLog): readonly unknown[] {
  if (fields.every((name) => typeof block[name] === 'string')) return [block];
  log.add('reasoning block without its signature', LEFT_OUT);
  return [];
}

function shapeCall(block: JsonObject, log: ChangeLog): readonly unknown[] {
  const { id, name, input } = block;
  const isSound = (id === undefined || typeof id === 'string') && typeof name === 'string' && isObject(input);
  if (isSound) return [block];
  log.add('tool call with missing or unreadable fields', 'completed');
  const { id: _id, ...rest } = block;
  return [
    {
      ...(typeof id === 'string' ? block : rest),
      name: typeof name === 'string' ? name : 'unnamed',
      input: readInput(input),
    },
  ];
}

function readInput(input: unknown): JsonObject {
  if (isObject(input)) return input;
  if (input === undefined || input === null || input === '') return {};
  if (typeof input !== 'string') return { input };
  try {
    const parsed: unknown = JSON.parse(input);
    return isObject(parsed) ? parsed : { input };
  } catch {
    return { input };
  }
}

function shapeResult(block: JsonObject, log: ChangeLog): readonly unknown[] {
  const { content } = block;
  if (content === undefined || content === null || typeof content === 'string') return [block];
  if (!Array.isArray(content)) {
    log.add('tool result with unreadable content', AS_TEXT);
    return [{ ...block, content: asWords(content) }];
  }
  const inner = content
    .flatMap((entry: unknown) => shapeInner(entry, log))
    .map((entry) => (isObject(entry) ? withSoundMark(entry, log) : entry));
  const isSame = inner.length === content.length && inner.every((entry, index) => entry === content[index]);
  return isSame ? [block] : [{ ...block, content: inner }];
}

/** Blocks inside of a result: blank text is allowed there. */
function shapeInner(raw: unknown, log: ChangeLog): readonly unknown[] {
  if (!isObject(raw) || typeof raw['type'] !== 'string') return shapeLoose(raw, log);
  if (raw['type'] === 'text') return typeof raw['text'] === 'string' ? [raw] : shapeText(raw, log);
  if (raw['type'] === 'image' || raw['type'] === 'document') return shapeMedia(raw, raw['type'], log);
  const [shaped] = shapes.get(raw['type'])?.(raw, new ChangeLog()) ?? [raw];
  if (shaped === raw) return [raw];
  log.add('broken block inside of a tool result', AS_TEXT);
  return [{ type: 'text', text: asWords(raw) }];
}

function shapeServerResult(block: JsonObject, log: ChangeLog): readonly unknown[] {
  return block['content'] === undefined ? leaveOut(log) : keepWhole(block, ['tool_use_id'], log);
}

/** What only the provider can write is there with all its fields, or not at all. */
function keepWhole(block: JsonObject, fields: readonly string[], log: ChangeLog): readonly unknown[] {
  const isCall = fields.includes('name');
  const isWhole =
    fields.every((name) => typeof block[name] === 'string') && (!isCall || isObject(block['input']));
  return isWhole ? [block] : leaveOut(log);
}

function leaveOut(log: ChangeLog): readonly unknown[] {
  log.add("broken block of a provider's own tool", LEFT_OUT);
  return [];
}

const COMPACTION_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'content',
  'encrypted_content',
  'signature',
  'tool_changes',
  'cache_control',
]);

function shapeCompaction(block: JsonObject, log: ChangeLog): readonly unknown[] {
  const shaped = withoutFields(block, (name) => !COMPACTION_FIELDS.has(name));
  if (shaped !== block) log.add("field in a provider's own summary that the provider refuses", REMOVED_FIELD);
  return [shaped];
}

const UNCACHABLE: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** The block without a cache breakpoint that the API cannot read or does not allow there. */
function withSoundMark(block: JsonObject, log: ChangeLog): JsonObject {
  const control = block['cache_control'];
  if (control === undefined || control === null) return block;
  const ttl = isObject(control) ? (control['ttl'] ?? '5m') : undefined;
  const isSound = isObject(control) && control['type'] === 'ephemeral' && (ttl === '5m' || ttl === '1h');
  if (isSound && !UNCACHABLE.has(block['type'])) return block;
  log.add('cache breakpoint that is not allowed', REMOVED_FIELD);
  return withoutFields(block, (name) => name === 'cache_control');
}
