/** Repairs Anthropic requests: shapes of blocks, roles, tool results. */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import { ChangeLog } from '../change-log.ts';
import { textPart } from '../content.ts';
import {
  AS_TEXT,
  isGiven,
  LEFT_OUT,
  leaveOutEmpty,
  looseWords,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  REMOVED,
  replaceEntries,
  shapeList,
  splitByRole,
  withoutFields,
  withRole,
  wordsOf,
} from '../mend/shaping.ts';
import {
  beginAtSummary,
  dropBrokenServerTools,
  endAsAllowed,
  markAtMostFour,
  placeSystemMessages,
  startWithUser,
} from './mend-order.ts';

/** The mender of Anthropic Messages. */
export const anthropicMender: Mender = {
  isMessage: ({ content }) => isGiven(content),
  shape,
  ids: () => ({
    isLegal: isLegalId,
    needsId: () => true,
    withCallId: (call, id) => ({ ...call, id }),
    withAnsweredId: (result, id) => ({ ...result, tool_use_id: id }),
  }),
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
    const before = typeof system === 'string' && system !== '' ? [textPart(system)] : asList(system);
    return { ...body, system: [...before, ...texts.map(textPart)] };
  },
};

function isLegalId(id: unknown): boolean {
  return typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id);
}

function shape(message: JsonObject, context: MendContext): readonly unknown[] {
  const { log } = context;
  const role = plainRole(message['role']);
  const content = shapeContent(message['content'], log);
  if (content === undefined) return leaveOutEmpty(log);
  const named = withRole(message, role, log);
  const filled = content === message['content'] ? named : { ...named, content };
  const known = withKnownFields(filled, role, context);
  return splitByRole(known, { key: 'content', own: role, roleOf: roleOfBlock, log });
}

const FIELDS: ReadonlySet<string> = new Set(['role', 'content']);
const SYSTEM_FIELDS: ReadonlySet<string> = new Set([...FIELDS, 'clear_at', 'output_config']);

/** The fields that the API takes. Only a request has to do without the others. */
function withKnownFields(message: JsonObject, role: string, { isRequest, log }: MendContext): JsonObject {
  if (!isRequest) return message;
  const fields = role === 'system' ? SYSTEM_FIELDS : FIELDS;
  const known = withoutFields(message, (name) => !fields.has(name));
  if (known !== message) log.add('message with fields that the provider refuses', 'sent without them');
  return known;
}

/** Content that the API can read; undefined when nothing is left of it. */
function shapeContent(content: unknown, log: ChangeLog): unknown {
  if (typeof content === 'string') return content.trim() === '' ? undefined : content;
  const blocks = shapeList(content, (block) => shapeBlock(block, log), log);
  return blocks?.length === 0 ? undefined : blocks;
}

/** The one role that may say a block; undefined for what everybody may say. */
function roleOfBlock(block: unknown): 'user' | 'assistant' | undefined {
  const type = isObject(block) ? block['type'] : undefined;
  if (type === 'tool_result') return 'user';
  if (typeof type !== 'string') return undefined;
  const isOwn = ['tool_use', 'server_tool_use', 'mcp_tool_use', 'thinking', 'redacted_thinking'].includes(
    type,
  );
  if (isOwn || type.endsWith('_tool_result')) return 'assistant';
  return type === 'compaction' && isObject(block) && !isGiven(block['signature']) ? 'assistant' : undefined;
}

/** A content block in a shape that the API can read: the very same value, another one in its place, or none. */
function shapeBlock(raw: unknown, log: ChangeLog): readonly unknown[] {
  if (!isObject(raw) || typeof raw['type'] !== 'string') {
    return looseWords(raw, log, 'content block').map(textPart);
  }
  const shaped = shapes.get(raw['type'])?.(raw, log) ?? [raw];
  return shaped.map((block) => withSoundMark(block, log));
}

type Shape = (block: JsonObject, log: ChangeLog) => readonly JsonObject[];

const SERVER_RESULTS = [
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'advisor_tool_result',
];

const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['text', shapeText],
  ['image', shapeMedia],
  ['document', shapeMedia],
  ['thinking', (block, log) => shapeThinking(block, ['thinking', 'signature'], log)],
  ['redacted_thinking', (block, log) => shapeThinking(block, ['data'], log)],
  ['tool_use', shapeCall],
  ['tool_result', shapeResult],
  ['server_tool_use', (block, log) => keepIf(isLegalId(block['id']) && isWholeCall(block), block, log)],
  ['mcp_tool_use', (block, log) => keepIf(isWholeCall(block) && hasText(block, 'server_name'), block, log)],
  ['mcp_tool_result', (block, log) => keepIf(hasText(block, 'tool_use_id'), block, log)],
  ...SERVER_RESULTS.map((type): [string, Shape] => [
    type,
    (block, log) => keepIf(block['content'] !== undefined && hasText(block, 'tool_use_id'), block, log),
  ]),
  ['container_upload', (block, log) => keepIf(hasText(block, 'file_id'), block, log)],
  ['compaction', shapeCompaction],
]);

function hasText(block: JsonObject, field: string): boolean {
  return typeof block[field] === 'string';
}

function isWholeCall(block: JsonObject): boolean {
  return hasText(block, 'id') && hasText(block, 'name') && isObject(block['input']);
}

/** What only the provider can write is there with all its fields, or not at all. */
function keepIf(isWhole: boolean, block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  if (isWhole) return [block];
  log.add("broken block of a provider's own tool", LEFT_OUT);
  return [];
}

function shapeText(block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  const { text } = block;
  if (typeof text === 'string' && text.trim() !== '') return [block];
  const words = typeof text === 'string' ? '' : wordsOf(text);
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

function shapeMedia(block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  const { type, source } = block;
  const field = isObject(source) ? SOURCE_FIELDS.get(source['type']) : undefined;
  const isThere =
    isObject(source) && (field === undefined || (hasText(source, field) && source[field] !== ''));
  if (isThere) return [block];
  log.add(`${String(type)} without data`, NOTED);
  return [textPart(mediaNote(String(type)))];
}

/** Thinking goes back as it came or not at all. */
function shapeThinking(block: JsonObject, fields: readonly string[], log: ChangeLog): readonly JsonObject[] {
  if (fields.every((name) => hasText(block, name))) return [block];
  log.add('reasoning block without its signature', LEFT_OUT);
  return [];
}

function shapeCall(block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  const { id, name, input } = block;
  const isSound = (id === undefined || typeof id === 'string') && typeof name === 'string' && isObject(input);
  if (isSound) return [block];
  log.add('tool call with missing or unreadable fields', 'completed');
  const named = typeof id === 'string' ? block : withoutFields(block, (field) => field === 'id');
  return [{ ...named, name: typeof name === 'string' ? name : 'unnamed', input: readInput(input) }];
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

function shapeResult(block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  const { content } = block;
  if (!isGiven(content) || typeof content === 'string') return [block];
  if (!Array.isArray(content)) {
    log.add('tool result with unreadable content', AS_TEXT);
    return [{ ...block, content: wordsOf(content) }];
  }
  const inner = replaceEntries<unknown>(content, (entry) =>
    shapeInner(entry, log).map((one) => withSoundMark(one, log)),
  );
  return [inner === content ? block : { ...block, content: inner }];
}

/** Blocks inside of a result: blank text is allowed there. */
function shapeInner(raw: unknown, log: ChangeLog): readonly JsonObject[] {
  if (!isObject(raw) || typeof raw['type'] !== 'string') {
    return looseWords(raw, log, 'content block').map(textPart);
  }
  if (raw['type'] === 'text') return hasText(raw, 'text') ? [raw] : shapeText(raw, log);
  if (raw['type'] === 'image' || raw['type'] === 'document') return shapeMedia(raw, log);
  const [shaped] = shapes.get(raw['type'])?.(raw, new ChangeLog()) ?? [raw];
  if (shaped === raw) return [raw];
  log.add('broken block inside of a tool result', AS_TEXT);
  return [textPart(wordsOf(raw))];
}

const COMPACTION_FIELDS: ReadonlySet<string> = new Set([
  ...['type', 'content', 'encrypted_content', 'signature', 'tool_changes', 'cache_control'],
]);

function shapeCompaction(block: JsonObject, log: ChangeLog): readonly JsonObject[] {
  const shaped = withoutFields(block, (name) => !COMPACTION_FIELDS.has(name));
  if (shaped !== block) log.add("field in a provider's own summary that the provider refuses", REMOVED);
  return [shaped];
}

/** The block without a cache breakpoint that the API cannot read or does not allow there. */
function withSoundMark(block: JsonObject, log: ChangeLog): JsonObject {
  const control = block['cache_control'];
  if (!isGiven(control)) return block;
  const ttl = isObject(control) ? (control['ttl'] ?? '5m') : undefined;
  const isSound = isObject(control) && control['type'] === 'ephemeral' && (ttl === '5m' || ttl === '1h');
  const mayHaveOne = block['type'] !== 'thinking' && block['type'] !== 'redacted_thinking';
  if (isSound && mayHaveOne) return block;
  log.add('cache breakpoint that is not allowed', REMOVED);
  return withoutFields(block, (name) => name === 'cache_control');
}
