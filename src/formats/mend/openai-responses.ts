import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { toJson } from '../result-content.ts';
import type { MendContext, Mender } from './mender.ts';
import { isOpenaiModel } from './openai-models.ts';
import { mendItemIds, mendReasoning } from './openai-responses-ids.ts';
import { AS_TEXT, LEFT_OUT, looseText, plainRole, unwrapMessage } from './raw-message.ts';

const MAX_ID_LENGTH = 64;

/** OpenAI Responses. */
export const openaiResponsesMender: Mender = {
  shape,
  idRules: ({ model }) => ({
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
      if (!isObject(raw) || raw['execution'] === 'server' || raw['async'] === true) return false;
      return !answeredById.has(id ?? '') && !answeredById.has(asString(raw['id']) ?? '');
    };
  },
  prepare: (messages, context) => closeOwnTools(messages, context),
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

function shape(raw: unknown, { frame, log }: MendContext): readonly unknown[] {
  // A request whose whole input is a text reads as one such item.
  if (typeof raw === 'string' && isObject(frame.body) && frame.body['input'] === raw) return [raw];
  const item = unwrapMessage(raw, isItem, log);
  if (!isObject(item) || (!isItem(item) && typeof item['role'] !== 'string')) return looseItem(raw, log);
  const { type } = item;
  if (type === undefined || type === 'message') return shapeMessage(item, log);
  if (typeof item['call_id'] === 'string') return [item];
  if (CALLS.has(type)) {
    log.add('call id', 'added');
    return [{ ...item, call_id: asString(item['id']) ?? 'call' }];
  }
  if (!OUTPUTS.has(type)) return [item];
  const words = asString(item['output']) ?? toJson(item['output'] ?? undefined) ?? '';
  log.add('tool result without a call', words.trim() === '' ? LEFT_OUT : AS_TEXT);
  return words.trim() === '' ? [] : [{ role: 'user', content: `[result of an earlier tool call]\n${words}` }];
}

function looseItem(raw: unknown, log: MendContext['log']): readonly unknown[] {
  const text = looseText(raw, log);
  return text === undefined ? [] : [{ role: 'user', content: text }];
}

/** Records of Codex have a type of their own around the item. */
const RECORD_TYPES: ReadonlySet<unknown> = new Set(['response_item', 'event_msg']);

function isItem(value: JsonObject): boolean {
  if (typeof value['type'] === 'string')
    return !RECORD_TYPES.has(value['type']) || !isObject(value['payload']);
  return typeof value['role'] === 'string' && (value['content'] ?? null) !== null;
}

function shapeMessage(item: JsonObject, log: MendContext['log']): readonly unknown[] {
  const { role, content } = item;
  if (content === undefined || content === null) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  const isKnown = ROLES.has(role);
  if (!isKnown) log.add('message of an unknown role', `taken for the ${plainRole(role)}'s`);
  const named = isKnown ? item : { ...item, role: plainRole(role) };
  if (typeof content === 'string' || Array.isArray(content)) return [named];
  log.add('content that is no list', 'put into one');
  return [{ ...named, content: isObject(content) ? [content] : (toJson(content) ?? '') }];
}

/** Calls whose result has a shape that a made-up text does not fit into. */
const OWN_SHAPE: ReadonlySet<unknown> = new Set(['computer_call', 'shell_call', 'tool_search_call']);

/** Calls of such tools that nothing answers become words of the model's, since no result can be made up for them. */
function closeOwnTools(messages: readonly Message[], context: MendContext): readonly Message[] {
  const { format, frame, log } = context;
  if (frame.continues !== undefined || !messages.some(isOwnCall)) return messages;
  const outputs = new Map<string, number>();
  for (const [index, { raw }] of messages.entries()) {
    const id = isObject(raw) ? asString(raw['call_id']) : undefined;
    if (id !== undefined && isObject(raw) && asString(raw['type'])?.endsWith('_output'))
      outputs.set(id, index);
  }
  return messages.map((message, index) => {
    const { raw } = message;
    if (!isOwnCall(message) || !isObject(raw) || raw['execution'] === 'server' || raw['async'] === true)
      return message;
    if ((outputs.get(asString(raw['call_id']) ?? '') ?? -1) > index) return message;
    log.add("call of a provider's own tool without a result", AS_TEXT);
    const text = `[called ${String(raw['type'])}, no result was recorded: ${toJson(raw['action'] ?? raw['arguments'] ?? {}) ?? ''}]`;
    return format.readMessage({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    });
  });
}

function isOwnCall({ raw }: Message): boolean {
  return isObject(raw) && OWN_SHAPE.has(raw['type']) && typeof raw['call_id'] === 'string';
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
