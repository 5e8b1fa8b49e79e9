import type { Conversation, Format, Recognition } from '../../conversation/format.ts';
import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, Role, ToolResultBlock, Usage } from '../../conversation/message.ts';
import { withAnthropicContent } from '../anthropic-messages/blocks.ts';
import {
  asOneText,
  isSameList,
  otherBlock,
  resultBlock,
  rewriteResult,
  splitResults,
  textBlock,
  toParts,
} from '../content.ts';
import { bareFrame, findList, listIn, readResponseId, replaceUnderKey } from '../frame.ts';
import { rememberViews } from '../view-memory.ts';
import { keepBeside, readBeside, readLangchainContent } from './content.ts';

const readMessage = rememberViews(readView);

/**
 * LangChain messages: live objects, `{type, data}`, `{lc: 1, type: 'constructor', …}` or plain `{type, content}`; a bare
 * list of them or a state `{messages}`.
 *
 * New messages are written in the form of the list they go into; among live ones as plain messages, which LangChain
 * takes wherever it takes live ones (`coerceMessageLikeToMessage`). A live message of which blocks were taken becomes
 * plain too. What is never sent (`artifact`, metadata) is kept and not counted.
 *
 * The id of a response is `response_metadata.id` where the provider gave one: it tells even the records of a response
 * that a program took apart. Otherwise it is the `id` of the message. LangChain gives one to every answer of a model,
 * the pieces of a stream share it, and a state gives one to every message that has none.
 */
export const langchain: Format = {
  name: 'langchain',
  summary: 'LangChain messages: live objects or either serialised form, every result a message of its own',
  listKey: 'messages',
  tools: { resultsStand: 'following-messages', callIdsUniqueAmong: 'open-calls' },
  userFirst: false,
  alternates: true,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList(frame, list) {
    const known = new Set(frame.list);
    const form = frame.list.map(openMessage).find((open) => open !== undefined)?.form ?? 'plain';
    const messages = list.map((raw) => (known.has(raw) ? raw : toForm(raw, form)));
    return replaceUnderKey(frame.body, langchain.listKey, messages);
  },

  textBlock,
  failedResult(call, text) {
    const isLegacy = call.id === undefined;
    const raw = isLegacy
      ? { type: 'function', name: call.name, content: text }
      : { type: 'tool', tool_call_id: call.id, name: call.name, content: text, status: 'error' };
    return readResult(raw, raw);
  },
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) => {
      const open = openMessage(raw);
      if (open === undefined || !isResult(open)) return withAnthropicContent(raw, result.runBy, content);
      const changed = withFields(raw, open, { content: asOneText(content) ?? toParts(content) });
      return readResult(openMessage(changed)?.fields ?? {}, changed);
    }),
  userMessages(blocks) {
    const { results, others } = splitResults(blocks);
    const said = others.length === 0 ? [] : [{ type: 'human', content: toParts(others) }];
    return [...results.map(({ raw }) => raw), ...said].map(readMessage);
  },
  withBlocks(message, blocks) {
    const open = openMessage(message.raw);
    // What is one block as a whole is there or it is gone.
    if (open === undefined || open.type === 'remove') return { ...message, blocks };
    if (!isResult(open)) {
      return readMessage(withFields(message.raw, open, changeBlocks(open.fields, blocks)));
    }
    const result = blocks.find((block) => block.type === 'tool-result');
    return result === undefined ? { ...message, blocks } : readMessage(toForm(result.raw, open.form));
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, langchain.listKey, 'LangChain');
  return { format: langchain, frame: bareFrame(body, list), messages: list.map(readMessage) };
}

function readView(raw: unknown): Message {
  const open = openMessage(raw);
  if (open === undefined || open.type === 'remove') return odd(raw, open);
  const isAnswer = open.type === 'ai';
  return {
    role: roleOf(open),
    blocks: isResult(open) ? [readResult(open.fields, raw)] : readBlocks(open.fields),
    responseId: isAnswer ? responseIdOf(open.fields) : undefined,
    usage: isAnswer ? readUsage(open.fields['usage_metadata']) : undefined,
    raw,
  };
}

function responseIdOf({ id, response_metadata: metadata }: JsonObject): string | undefined {
  return readResponseId(isObject(metadata) ? metadata['id'] : undefined) ?? readResponseId(id);
}

/** What is no message: an order to remove one, or a value nobody knows. */
function odd(raw: unknown, open: OpenMessage | undefined): Message {
  const role = open === undefined ? 'user' : roleOf(open);
  return { role, blocks: [otherBlock(raw, open?.type)], responseId: undefined, usage: undefined, raw };
}

function isResult({ type }: OpenMessage): boolean {
  return type === 'tool' || type === 'function';
}

/** The result is the whole message. Its `artifact` is for the program and never goes to the model. */
function readResult(fields: JsonObject, raw: unknown): ToolResultBlock {
  const { tool_call_id: callId, name, status } = fields;
  const content = readLangchainContent(fields['content']);
  return resultBlock(raw, { callId, name, content, isError: status === 'error' });
}

function readBlocks(fields: JsonObject): readonly Block[] {
  const content = readLangchainContent(fields['content']);
  const { reasoning, calls } = readBeside(fields, content);
  return [...reasoning, ...content, ...calls];
}

/** The fields that have to change so that the message holds these blocks and no others. */
function changeBlocks(fields: JsonObject, blocks: readonly Block[]): JsonObject {
  const content = readLangchainContent(fields['content']);
  const beside = readBeside(fields, content);
  const besideRaws = new Set([...beside.reasoning, ...beside.calls].map((block) => block.raw));
  const wanted = blocks.filter((block) => !besideRaws.has(block.raw));
  const isSame = isSameList(
    wanted.map(({ raw }) => raw),
    content.map(({ raw }) => raw),
  );
  return {
    ...keepBeside(fields, beside, new Set(blocks.map((block) => block.raw))),
    ...(isSame ? {} : { content: toParts(wanted) }),
  };
}

/** `input_tokens` is the sum of all input, cached or not. */
function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  return {
    promptTokens: asCount(usage['input_tokens']),
    outputTokens: asCount(usage['output_tokens']),
  };
}

/** Messages with a role alone are as good in other formats: one of LangChain's own has to be among them. */
function recognise(value: unknown): Recognition {
  const list = listIn(value);
  if (list === undefined) return 'no';
  let found: Recognition = 'no';
  for (const raw of list) {
    const open = openMessage(raw);
    if (open === undefined || !isKnownType(open.type)) return 'no';
    if (open.form !== 'plain' || (isObject(raw) && typeof raw['type'] === 'string')) found = 'certain';
  }
  return found;
}

/**
 * How a message is written down:
 * - `stored`: `{type, data}`, as `toDict` and message histories have it
 * - `constructor`: `{lc: 1, type: 'constructor', id: […, 'AIMessage'], kwargs}`, as JSON and checkpoints have it
 * - `live`: an object of one of LangChain's classes
 * - `plain`: `{type | role, content, …}`, or a string for a human's message; LangChain makes a message of it
 */
export type MessageForm = 'stored' | 'constructor' | 'live' | 'plain';

/** A message of whatever form, opened. */
export interface OpenMessage {
  readonly form: MessageForm;
  /** `human`, `ai`, `system`, `tool`, `function`, `generic`, `remove`; anything for what is unknown. */
  readonly type: string;
  /** Where `content`, `tool_calls` and the like are. */
  readonly fields: JsonObject;
}

/** Opens a message. Undefined when it has none of the known forms. */
export function openMessage(raw: unknown): OpenMessage | undefined {
  if (typeof raw === 'string') return { form: 'plain', type: 'human', fields: { content: raw } };
  if (!isObject(raw)) return undefined;
  const { type, data, kwargs, id } = raw;
  if (raw['lc'] === 1 && type === 'constructor' && isObject(kwargs)) {
    const className = Array.isArray(id) ? asString(id.at(-1)) : undefined;
    return { form: 'constructor', type: toType(className ?? ''), fields: kwargs };
  }
  if (typeof type === 'string' && isObject(data) && raw['content'] === undefined) {
    return { form: 'stored', type: toType(type), fields: data };
  }
  const isLive = typeof raw['_getType'] === 'function' || typeof raw['getType'] === 'function';
  const name = asString(type) ?? (isLive ? askType(raw) : asString(raw['role']));
  return name === undefined
    ? undefined
    : { form: isLive ? 'live' : 'plain', type: toType(name), fields: raw };
}

const TYPE_OF_NAME: ReadonlyMap<string, string> = new Map([
  ['user', 'human'],
  ['assistant', 'ai'],
  ['developer', 'system'],
  ['chat', 'generic'],
]);

/** The type behind a type, a role or a class name: `ai` for `ai`, `assistant`, `AIMessage` and `AIMessageChunk`. */
function toType(name: string): string {
  const short = name
    .replace(/Chunk$/, '')
    .replace(/Message$/, '')
    .toLowerCase();
  return TYPE_OF_NAME.get(short) ?? short;
}

/** Classes of old versions have no `type`, only a method that tells it. */
function askType(message: JsonObject): string | undefined {
  const ask = message['_getType'] ?? message['getType'];
  if (typeof ask !== 'function') return undefined;
  try {
    return asString(ask.call(message));
  } catch {
    return undefined;
  }
}

const ROLE_OF_TYPE: ReadonlyMap<string, Role> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['system', 'system'],
  ['tool', 'user'],
  ['function', 'user'],
  ['generic', 'user'],
  // An order to the store and nobody's words.
  ['remove', 'system'],
]);

/** Whether LangChain knows this type of message. */
export function isKnownType(type: string): boolean {
  return ROLE_OF_TYPE.has(type);
}

/** Who speaks in a message. A `generic` one names its role itself. */
function roleOf({ type, fields }: OpenMessage): Role {
  const named = type === 'generic' ? toType(asString(fields['role']) ?? '') : type;
  return ROLE_OF_TYPE.get(named) ?? 'user';
}

/**
 * The message with other values in some fields, in its own form. A live one comes out plain: new objects of its class
 * are LangChain's to make, which it does from a plain message wherever it takes a live one.
 */
export function withFields(raw: unknown, open: OpenMessage, changes: JsonObject): JsonObject {
  const whole = isObject(raw) ? raw : {};
  switch (open.form) {
    case 'stored':
      return { ...whole, data: { ...open.fields, ...changes } };
    case 'constructor':
      return { ...whole, kwargs: { ...open.fields, ...changes } };
    case 'plain':
      return isObject(raw) ? { ...raw, ...changes } : { type: open.type, ...changes };
    case 'live':
      return { ...toPlain(open), ...changes };
  }
}

/** The data of a live message: without the marks of its class (symbols and `lc_…`), which a copy must not bear. */
function toPlain({ type, fields }: OpenMessage): JsonObject {
  const isData = ([key, value]: [string, unknown]) => !key.startsWith('lc_') && value !== undefined;
  return { ...Object.fromEntries(Object.entries(fields).filter(isData)), type };
}

const CLASS_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ['human', 'HumanMessage'],
  ['ai', 'AIMessage'],
  ['system', 'SystemMessage'],
  ['tool', 'ToolMessage'],
  ['function', 'FunctionMessage'],
  ['generic', 'ChatMessage'],
  ['remove', 'RemoveMessage'],
]);

/** A plain message in another form; every other message as it is. A plain one also stands for a live one. */
function toForm(raw: unknown, form: MessageForm): unknown {
  const open = openMessage(raw);
  if (open?.form !== 'plain' || form === 'plain' || form === 'live') return raw;
  const { type: _type, role: _role, ...rest } = open.fields;
  const fields = { additional_kwargs: {}, response_metadata: {}, ...rest };
  if (form === 'stored') return { type: open.type, data: fields };
  const className = CLASS_OF_TYPE.get(open.type) ?? 'HumanMessage';
  return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', className], kwargs: fields };
}
