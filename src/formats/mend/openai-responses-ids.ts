import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { toJson } from '../result-content.ts';
import type { MendContext } from './mender.ts';
import { reasonsAlways } from './openai-models.ts';
import { LEFT_OUT, REMOVED_FIELD, replaceEntries, withoutFields } from './raw-message.ts';

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
export function mendItemIds(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
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
    log.add('item id that the provider refuses', REMOVED_FIELD);
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
export function mendReasoning(messages: readonly Message[], context: MendContext): readonly Message[] {
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
