import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Role } from '../conversation/message.ts';

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
export function roleOf({ type, fields }: OpenMessage): Role {
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
export function toForm(raw: unknown, form: MessageForm): unknown {
  const open = openMessage(raw);
  if (open?.form !== 'plain' || form === 'plain' || form === 'live') return raw;
  const { type: _type, role: _role, ...rest } = open.fields;
  const fields = { additional_kwargs: {}, response_metadata: {}, ...rest };
  if (form === 'stored') return { type: open.type, data: fields };
  const className = CLASS_OF_TYPE.get(open.type) ?? 'HumanMessage';
  return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', className], kwargs: fields };
}
