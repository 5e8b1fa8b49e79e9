import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { toJson } from '../content.ts';
import { LegalNameMap } from '../legal-names.ts';
import {
  AS_TEXT,
  LEFT_OUT,
  looseText,
  type MendContext,
  type Mender,
  plainRole,
  replaceEntries,
  unwrapMessage,
  withoutFields,
} from '../mend/shaping.ts';

const MAX_ID_LENGTH = 40;
const MAX_NAME_LENGTH = 64;

/** OpenAI Chat. */
export const openaiChatMender: Mender = {
  shape,
  idRules: ({ model }) => ({
    maxLength: MAX_ID_LENGTH,
    isLegal: (id) => !isOpenaiModel(model) || id.length <= MAX_ID_LENGTH,
    // The calls of 2023 had none.
    needsId: ({ raw }) => isObject(raw) && (raw['function'] !== undefined || raw['custom'] !== undefined),
    withCallId: (call, id) => ({ ...call, id }),
    withAnsweredId: (result, id) => ({ ...result, role: 'tool', tool_call_id: id }),
  }),
  resultMediaFitsUser: true,
  arrange: (messages, context) => (isOpenaiModel(context.model) ? moveImages(messages, context) : messages),
};

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { log } = context;
  const message = unwrapMessage(raw, hasContent, log);
  if (!isObject(message) || (!hasContent(message) && typeof message['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', content: text }];
  }
  const named = withRole(message, context);
  const filled = withContent(withCalls(named, context), context);
  if (filled === undefined) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  return [filled];
}

const CALL_FIELDS = ['tool_calls', 'function_call', 'refusal', 'audio', 'reasoning_content'];

function hasContent(value: JsonObject): boolean {
  return (value['content'] ?? null) !== null || CALL_FIELDS.some((name) => (value[name] ?? null) !== null);
}

function withRole(message: JsonObject, { log }: MendContext): JsonObject {
  const isNameless = message['role'] === 'function' && typeof message['name'] !== 'string';
  if (isNameless) {
    log.add('result of a function without its name', AS_TEXT);
    return { ...message, role: 'user' };
  }
  const isResult = message['role'] === 'function' || typeof message['tool_call_id'] === 'string';
  const calls = asList(message['tool_calls']).length > 0 && !isResult;
  if (ROLES.has(message['role']) && (!calls || message['role'] === 'assistant')) return message;
  const role = calls ? 'assistant' : plainRole(message['role']);
  log.add(
    calls ? "message with calls that is not the assistant's" : 'message of an unknown role',
    `taken for the ${role}'s`,
  );
  return { ...message, role };
}

/** Calls that the API can read. A list without calls is refused, so it goes. */
function withCalls(message: JsonObject, context: MendContext): JsonObject {
  const { tool_calls: calls, role } = message;
  if (calls === undefined || calls === null || role !== 'assistant') return message;
  const list = Array.isArray(calls) ? (calls as readonly unknown[]) : isObject(calls) ? [calls] : [];
  const shaped = replaceEntries(list, (call) => shapeCall(call, context));
  if (shaped.length === 0) {
    context.log.add('empty list of tool calls', LEFT_OUT);
    return withoutFields(message, (name) => name === 'tool_calls');
  }
  if (list !== calls) context.log.add('tool call that stands in no list', 'put into one');
  return shaped === calls ? message : { ...message, tool_calls: shaped };
}

function shapeCall(call: unknown, context: MendContext): readonly unknown[] {
  const isCall =
    isObject(call) && (typeof call['id'] === 'string' || isObject(call['function'] ?? call['custom']));
  if (!isCall) {
    context.log.add('value that is no tool call', LEFT_OUT);
    return [];
  }
  const shaped = shapeInput(shapeInput(call, 'function', 'arguments', context), 'custom', 'input', context);
  if (shaped['id'] === undefined || typeof shaped['id'] === 'string') return [shaped];
  return [withoutFields(shaped, (name) => name === 'id')];
}

/** The call with a legal name and with its input as text. */
function shapeInput(call: JsonObject, key: string, field: string, { model, log }: MendContext): JsonObject {
  const inner = call[key];
  if (!isObject(inner)) return call;
  const input = inner[field];
  const name = isOpenaiModel(model) ? legalName(inner['name']) : inner['name'];
  const isReadable = input === undefined || typeof input === 'string';
  if (isReadable && name === inner['name']) return call;
  log.add('tool call with unreadable fields', 'made legal');
  const named = name === undefined ? inner : { ...inner, name };
  return { ...call, [key]: isReadable ? named : { ...named, [field]: toJson(input) ?? '{}' } };
}

function legalName(name: unknown): unknown {
  if (typeof name !== 'string') return name;
  return name === '' ? 'unnamed' : new LegalNameMap(MAX_NAME_LENGTH, 'unnamed').get(name);
}

/** Fields that let an answer do without content; compatible servers also take a thought for it. */
const STAND_INS = ['function_call', 'refusal', 'audio', 'tool_calls'];
const FOREIGN_STAND_INS = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** The message with content that the API can read; undefined when there is nothing in it. */
function withContent(message: JsonObject, { model, log }: MendContext): JsonObject | undefined {
  const { content, role } = message;
  if (typeof content === 'string') return message;
  if (content === undefined || content === null) {
    const isGiven = (name: string) => (message[name] ?? null) !== null;
    const thinks = FOREIGN_STAND_INS.some(isGiven);
    const mayLack = role === 'assistant' && (STAND_INS.some(isGiven) || (thinks && !isOpenaiModel(model)));
    if (mayLack) return message;
    if (role !== 'tool' && role !== 'function' && !thinks) return undefined;
    log.add('message without content', 'given an empty text');
    return { ...message, content: '' };
  }
  const list = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  if (list !== content) log.add('content that is no list', 'put into one');
  const parts = replaceEntries(list, (part) => shapePart(part, log));
  return parts === content ? message : { ...message, content: parts };
}

function shapePart(part: unknown, log: MendContext['log']): readonly unknown[] {
  if (isObject(part) && typeof part['type'] === 'string') return [part];
  const own = isObject(part) ? part['text'] : part;
  const text = typeof own === 'string' ? own : (toJson(part ?? undefined) ?? '');
  log.add('value that is no content part', text.trim() === '' ? LEFT_OUT : AS_TEXT);
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Pictures stand in user messages only: those of others go into one behind them, and behind the results of their calls. */
function moveImages(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  if (!messages.some(hasStrayImage)) return messages;
  const moved: Message[] = [];
  let images: Block[] = [];
  const flush = () => {
    if (images.length > 0) moved.push(...format.userMessages(images));
    images = [];
  };
  for (const message of messages) {
    const isResult = isObject(message.raw) && message.raw['role'] === 'tool';
    if (!isResult) flush();
    if (!hasStrayImage(message)) {
      moved.push(message);
      continue;
    }
    const found = strayImages(message);
    log.add(
      `image in a message of the ${isResult ? 'tool' : message.role}'s`,
      'moved behind it',
      found.length,
    );
    images.push(
      format.textBlock(`[image from a message of the ${isResult ? 'tool' : message.role}'s]`),
      ...found,
    );
    moved.push(withoutImages(message, format));
  }
  flush();
  return moved;
}

function hasStrayImage({ raw }: Message): boolean {
  if (!isObject(raw) || raw['role'] === 'user') return false;
  return asList(raw['content']).some(isImage);
}

function strayImages({ raw }: Message): readonly Block[] {
  const images = isObject(raw) ? asList(raw['content']).filter(isImage) : [];
  return images.map((image) => ({
    type: 'media',
    media: 'image',
    data: undefined,
    text: undefined,
    detail: undefined,
    raw: image,
  }));
}

function isImage(part: unknown): boolean {
  return isObject(part) && part['type'] === 'image_url';
}

function withoutImages({ raw }: Message, format: MendContext['format']): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const rest = asList(message['content']).filter((part) => !isImage(part));
  const content = rest.length === 0 ? '[image: see the message behind]' : rest;
  return format.readMessage({ ...message, content });
}

/** How the names of OpenAI's own models begin. */
const OWN_MODEL = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

/** Whether OpenAI's own limits hold: servers that merely speak its formats have others. Held to them when unknown. */
export function isOpenaiModel(model: string | undefined): boolean {
  return model === undefined || OWN_MODEL.test(model);
}

/** Models that think before everything they write, so that what they wrote comes with a reasoning item. */
const ALWAYS_REASONING = /^(?:o1|o3|o4-mini|gpt-5)(?:-|$)/;
const NEVER_REASONING = /^gpt-5-chat(?:-|$)/;

/** Whether everything that this model wrote has a reasoning item before it. */
export function reasonsAlways(model: string | undefined): boolean {
  return model !== undefined && ALWAYS_REASONING.test(model) && !NEVER_REASONING.test(model);
}
