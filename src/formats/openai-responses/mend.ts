/** Repairs Responses API items: shapes, calls and outputs, reasoning. */

import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { toJson } from '../content.ts';
import {
  AS_TEXT,
  isGiven,
  LEFT_OUT,
  leaveOutEmpty,
  type MendContext,
  type Mender,
  plainRole,
  REMOVED,
  replaceEntries,
  withoutFields,
  withRole,
  wordsOf,
} from '../mend/shaping.ts';
import { isOpenaiModel } from '../openai-chat/mend.ts';

const MAX_ID_LENGTH = 64;

/** The mender of Responses API items. */
export const openaiResponsesMender: Mender = {
  isMessage: isItem,
  // A request whose whole input is a text reads as one such item.
  takes: (raw, { frame }) => typeof raw === 'string' && isObject(frame.body) && frame.body['input'] === raw,
  shape,
  ids: ({ model }) => ({
    maxLength: MAX_ID_LENGTH,
    isLegal: (id) => !isOpenaiModel(model) || id.length <= MAX_ID_LENGTH,
    needsId: () => false,
    withCallId: (call, id) => ({ ...call, call_id: id }),
    withAnsweredId: (result, id) => ({ ...result, call_id: id }),
  }),
  resultMediaFitsUser: true,
  mayBeEmpty: true,
  owesResult(messages) {
    const answeredById = new Set(messages.flatMap(({ raw }) => shellAnswer(raw) ?? []));
    return ({ raw, id }) => {
      if (!isObject(raw) || isServers(raw)) return false;
      return !answeredById.has(id ?? '') && !answeredById.has(asString(raw['id']) ?? '');
    };
  },
  prepare: closeOwnTools,
  arrange(messages, context) {
    const triggered = moveTrigger(messages, context);
    if (!isOpenaiModel(context.model)) return triggered;
    return mendReasoning(mendItemIds(triggered, context), context);
  },
};

/** The older shell tool's answers carry the id of their call as their own. */
function shellAnswer(raw: unknown): string | undefined {
  if (!isObject(raw) || raw['type'] !== 'local_shell_call_output' || raw['call_id'] !== undefined)
    return undefined;
  return asString(raw['id']);
}

const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call']);
const OUTPUTS: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output']);
const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);

function shape(item: JsonObject, { log }: MendContext): readonly unknown[] {
  const { type } = item;
  if (type === undefined || type === 'message') return shapeMessage(item, log);
  if (typeof item['call_id'] === 'string') return [item];
  if (CALLS.has(type)) {
    log.add('call id', 'added');
    return [{ ...item, call_id: asString(item['id']) ?? 'call' }];
  }
  if (!OUTPUTS.has(type)) return [item];
  const words = wordsOf(item['output']);
  log.add('tool result without a call', words.trim() === '' ? LEFT_OUT : AS_TEXT);
  return words.trim() === '' ? [] : [{ role: 'user', content: `[result of an earlier tool call]\n${words}` }];
}

/** Records of Codex have a type of their own around the item. */
const RECORD_TYPES: ReadonlySet<unknown> = new Set(['response_item', 'event_msg']);

function isItem(value: JsonObject): boolean {
  if (typeof value['type'] === 'string')
    return !RECORD_TYPES.has(value['type']) || !isObject(value['payload']);
  return typeof value['role'] === 'string' && isGiven(value['content']);
}

function shapeMessage(item: JsonObject, log: MendContext['log']): readonly unknown[] {
  const { role, content } = item;
  if (!isGiven(content)) return leaveOutEmpty(log);
  const named = ROLES.has(role) ? item : withRole(item, plainRole(role), log);
  if (typeof content === 'string' || Array.isArray(content)) return [named];
  log.add('content that is no list', 'put into one');
  return [{ ...named, content: isObject(content) ? [content] : wordsOf(content) }];
}

/** Calls whose result has a shape that a made-up text does not fit into. */
const OWN_SHAPE: ReadonlySet<unknown> = new Set(['computer_call', 'shell_call', 'tool_search_call']);

/** Calls of such tools that nothing answers become words of the model's, since no result can be made up for them. */
function closeOwnTools(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { format, frame, log } = context;
  if (frame.continues !== undefined) return messages;
  const answeredAt = new Map<unknown, number>();
  for (const [index, { raw }] of messages.entries()) {
    if (isObject(raw) && typeOf(raw)?.endsWith('_output')) answeredAt.set(raw['call_id'], index);
  }
  return replaceEntries(messages, (message, index) => {
    const { raw } = message;
    if (!isObject(raw) || !isOwnCall(raw) || isServers(raw)) return [message];
    if ((answeredAt.get(raw['call_id']) ?? -1) > index) return [message];
    log.add("call of a provider's own tool without a result", AS_TEXT);
    const input = toJson(raw['action'] ?? raw['arguments'] ?? {}) ?? '';
    const text = `[called ${String(raw['type'])}, no result was recorded: ${input}]`;
    const content = [{ type: 'output_text', text }];
    return [format.readMessage({ type: 'message', role: 'assistant', content })];
  });
}

function isOwnCall(item: JsonObject): boolean {
  return OWN_SHAPE.has(item['type']) && typeof item['call_id'] === 'string';
}

/** Whether the provider itself sees to the result of a call. */
function isServers(call: JsonObject): boolean {
  return call['execution'] === 'server' || call['async'] === true;
}

/** An order to compact stands last. One that a summary follows has been carried out. */
function moveTrigger(messages: readonly Message[], { log }: MendContext): readonly Message[] {
  const first = messages.findIndex(isTrigger);
  if (first === -1 || first === messages.length - 1) return messages;
  const last = messages.findLastIndex(isTrigger);
  const rest = messages.filter((message) => !isTrigger(message));
  const isDone = messages
    .slice(last + 1)
    .some(({ blocks }) => blocks.some(({ type }) => type === 'compaction'));
  const strays = messages.length - rest.length - (last === messages.length - 1 ? 1 : 0);
  log.add('order to compact that is not last', isDone ? LEFT_OUT : 'moved to the end', strays);
  const trigger = messages[last];
  return isDone || trigger === undefined ? rest : [...rest, trigger];
}

function isTrigger({ raw }: Message): boolean {
  return isObject(raw) && raw['type'] === 'compaction_trigger';
}

/** How the ids begin that the server gives to items. */
const ID_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['compaction', 'cmp'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
  ['tool_search_call', 'tsc'],
  ['tool_search_output', 'tso'],
  ['web_search_call', 'ws'],
  ['code_interpreter_call', 'ci'],
  ['image_generation_call', 'ig'],
  ['mcp_call', 'mcp'],
  ['mcp_list_tools', 'mcpl'],
]);

/** Items that the model writes after thinking. */
const FOLLOWERS: ReadonlySet<string> = new Set([
  ...['message', 'function_call', 'custom_tool_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
  ...['computer_call', 'tool_search_call', 'web_search_call', 'file_search_call', 'code_interpreter_call'],
  ...['image_generation_call', 'mcp_call'],
]);

/** Items that the client writes. */
const CLIENT_ITEMS: ReadonlySet<string> = new Set([
  ...['function_call_output', 'custom_tool_call_output', 'local_shell_call_output', 'shell_call_output'],
  ...['apply_patch_call_output', 'computer_call_output', 'mcp_approval_response', 'additional_tools'],
  ...['configuration_update', 'compaction_trigger'],
]);

function typeOf(raw: unknown): string | undefined {
  if (!isObject(raw)) return undefined;
  return asString(raw['type']) ?? (typeof raw['role'] === 'string' ? 'message' : undefined);
}

function isFromClient(raw: unknown): boolean {
  const type = typeOf(raw) ?? '';
  if (type === 'message') return isObject(raw) && raw['role'] !== 'assistant';
  return CLIENT_ITEMS.has(type);
}

function idOf(raw: unknown): string | undefined {
  return isObject(raw) ? asString(raw['id']) : undefined;
}

/** Every item has an id of its own that the server can have given, or none. An exact copy of an item goes. */
function mendItemIds(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  const seen = new Map<string, unknown>();
  return replaceEntries(messages, (message) => {
    const { raw } = message;
    const id = idOf(raw);
    const type = typeOf(raw) ?? '';
    if (id === undefined || !isObject(raw) || type === 'local_shell_call_output') return [message];
    const prefix = ID_PREFIXES.get(type);
    const isForeign = prefix !== undefined && !id.startsWith(prefix);
    const first = seen.get(id);
    if (!isForeign && first === undefined) {
      seen.set(id, raw);
      return [message];
    }
    if (first !== undefined && isCopy(message, first)) {
      log.add('copy of an item', LEFT_OUT);
      return [];
    }
    log.add('item id that the provider refuses', REMOVED);
    return [withoutId(message, raw, format)];
  });
}

/** A call is never taken for a copy, since its result would lose it; nor is a summary, which only its provider can read. */
function isCopy({ raw, blocks }: Message, first: unknown): boolean {
  const mayGo = blocks.every(({ type }) => type === 'text' || type === 'reasoning');
  return mayGo && (raw === first || toJson(raw) === toJson(first));
}

function withoutId(message: Message, raw: JsonObject, format: MendContext['format']): Message {
  const { responseId, usage } = message;
  return { ...format.readMessage(withoutFields(raw, (name) => name === 'id')), responseId, usage };
}

/**
 * A reasoning item and the item that followed it come together, as long as they carry ids of the server's. A thought whose
 * item is missing goes; an item whose thought is missing loses its id, with which it asks for the thought.
 */
function mendReasoning(messages: readonly Message[], context: MendContext): readonly Message[] {
  return askForNoThought(dropLonelyThoughts(messages, context), context);
}

function dropLonelyThoughts(messages: readonly Message[], { log }: MendContext): readonly Message[] {
  const kept: Message[] = [];
  let next: unknown;
  for (const message of messages.toReversed()) {
    const isThought = typeOf(message.raw) === 'reasoning' && idOf(message.raw)?.startsWith('rs_') === true;
    if (isThought && (isFromClient(next) || idOf(next) === undefined)) {
      log.add('reasoning item without the item that followed it', LEFT_OUT);
      continue;
    }
    next = message.raw;
    kept.push(message);
  }
  return kept.length === messages.length ? messages : kept.reverse();
}

function askForNoThought(
  messages: readonly Message[],
  { format, frame, model, log }: MendContext,
): readonly Message[] {
  if (frame.continues !== undefined || !reasonsAlways(model)) return messages;
  let isExplained = false;
  return replaceEntries(messages, (message) => {
    const { raw } = message;
    const type = typeOf(raw) ?? '';
    if (isFromClient(raw)) isExplained = false;
    else if (!FOLLOWERS.has(type)) isExplained = true;
    const asks = FOLLOWERS.has(type) && !isFromClient(raw) && isServerId(idOf(raw), type);
    if (isExplained || !asks || !isObject(raw)) return [message];
    log.add('item without its reasoning item', 'sent without its id');
    return [withoutId(message, raw, format)];
  });
}

function isServerId(id: string | undefined, type: string): boolean {
  const prefix = ID_PREFIXES.get(type);
  return prefix !== undefined && id?.startsWith(`${prefix}_`) === true;
}

/** Models that think before everything they write, so that what they wrote comes with a reasoning item. */
const ALWAYS_REASONING = /^(?:o1|o3|o4-mini|gpt-5)(?:-|$)/;
const NEVER_REASONING = /^gpt-5-chat(?:-|$)/;

/** Whether everything that this model wrote has a reasoning item before it. */
function reasonsAlways(model: string | undefined): boolean {
  return model !== undefined && ALWAYS_REASONING.test(model) && !NEVER_REASONING.test(model);
}
