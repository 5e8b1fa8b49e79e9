/** Repairs Chat Completions messages: roles, content, tool calls and their results. */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { textPart, toJson } from '../content.ts';
import { LegalNames } from '../legal-names.ts';
import {
  AS_TEXT,
  isGiven,
  LEFT_OUT,
  leaveOutEmpty,
  looseWords,
  type MendContext,
  type Mender,
  plainRole,
  replaceEntries,
  shapeList,
  withoutFields,
  withRole,
} from '../mend/shaping.ts';
import { readChatPart } from './format.ts';

const MAX_ID_LENGTH = 40;
const MAX_NAME_LENGTH = 64;

/** The mender of Chat Completions messages. */
export const openaiChatMender: Mender = {
  isMessage: (value) => CONTENT_FIELDS.some((name) => isGiven(value[name])),
  shape: (message, context) => {
    const named = withoutStrayId(nameSpeaker(message, context), context);
    const filled = withContent(withCalls(named, context), context);
    return filled === undefined ? leaveOutEmpty(context.log) : [filled];
  },
  ids: ({ model }) => ({
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

const CONTENT_FIELDS = ['content', 'tool_calls', 'function_call', 'refusal', 'audio', 'reasoning_content'];

/** The message under a role that fits what it holds. */
function nameSpeaker(message: JsonObject, { log }: MendContext): JsonObject {
  const { role, name, tool_calls: calls, tool_call_id: answered } = message;
  if (role === 'function' && typeof name !== 'string') {
    log.add('result of a function without its name', AS_TEXT);
    return { ...message, role: 'user' };
  }
  const isCaller = asList(calls).length > 0 && role !== 'function' && typeof answered !== 'string';
  if (isCaller && role !== 'assistant') {
    log.add("message with calls that is not the assistant's", "taken for the assistant's");
    return { ...message, role: 'assistant' };
  }
  return ROLES.has(role) ? message : withRole(message, plainRole(role), log);
}

/** A message that is no result needs no id of a call, and one that is too long is refused wherever it stands. */
function withoutStrayId(message: JsonObject, { model, log }: MendContext): JsonObject {
  const { role, tool_call_id: id } = message;
  if (role === 'tool' || typeof id !== 'string' || id.length <= MAX_ID_LENGTH || !isOpenaiModel(model))
    return message;
  log.add('id of a call on a message that is no result', LEFT_OUT);
  return withoutFields(message, (name) => name === 'tool_call_id');
}

/** Calls that the API can read. A list without calls is refused, so it goes. */
function withCalls(message: JsonObject, context: MendContext): JsonObject {
  const { tool_calls: calls, role } = message;
  if (!isGiven(calls) || role !== 'assistant') return message;
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
  return new LegalNames(MAX_NAME_LENGTH, 'unnamed').take(name);
}

/** Fields that let an answer do without content; compatible servers also take a thought for it. */
const STAND_INS = ['function_call', 'refusal', 'audio', 'tool_calls'];
const FOREIGN_STAND_INS = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** The message with content that the API can read; undefined when there is nothing in it. */
function withContent(message: JsonObject, { model, log }: MendContext): JsonObject | undefined {
  const { content, role } = message;
  if (typeof content === 'string') return message;
  const isThere = (name: string) => isGiven(message[name]);
  const parts = shapeList(content, (part) => shapePart(part, log), log);
  if (parts !== undefined) return parts === content ? message : { ...message, content: parts };
  const thinks = FOREIGN_STAND_INS.some(isThere);
  const mayLack = STAND_INS.some(isThere) || (thinks && !isOpenaiModel(model));
  if (role === 'assistant' && mayLack) return message;
  if (role !== 'tool' && role !== 'function' && !thinks) return undefined;
  log.add('message without content', 'given an empty text');
  return { ...message, content: '' };
}

function shapePart(part: unknown, log: MendContext['log']): readonly unknown[] {
  if (isObject(part) && typeof part['type'] === 'string') return [part];
  return looseWords(part, log).map(textPart);
}

/** Pictures stand in user messages only: those of others go into one behind them, and behind the results of their calls. */
function moveImages(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  const moved: Message[] = [];
  let images: Block[] = [];
  const flush = () => {
    if (images.length > 0) moved.push(...format.userMessages(images));
    images = [];
  };
  for (const message of messages) {
    const raw = isObject(message.raw) ? message.raw : {};
    const isResult = raw['role'] === 'tool';
    if (!isResult) flush();
    const content = raw['role'] === 'user' ? [] : asList(raw['content']);
    const found = content.filter(isImage);
    if (found.length === 0) {
      moved.push(message);
      continue;
    }
    const holder = `message of the ${isResult ? 'tool' : message.role}'s`;
    log.add(`image in a ${holder}`, 'moved behind it', found.length);
    images.push(format.textBlock(`[image from a ${holder}]`), ...found.map(readChatPart));
    const rest = content.filter((part) => !isImage(part));
    const left = rest.length === 0 ? '[image: see the message behind]' : rest;
    moved.push(format.readMessage({ ...raw, content: left }));
  }
  flush();
  return moved;
}

function isImage(part: unknown): boolean {
  return isObject(part) && part['type'] === 'image_url';
}

/** How the names of OpenAI's own models begin. */
const OWN_MODEL = /^(?:ft:)?(?:gpt-|chatgpt-|codex-|computer-use-|o\d)/;

/** Whether OpenAI's own limits hold: servers that merely speak its formats have others. Held to them when unknown. */
export function isOpenaiModel(model: string | undefined): boolean {
  return model === undefined || OWN_MODEL.test(model);
}
