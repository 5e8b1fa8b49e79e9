/** Repairs LangChain messages: shapes, tool calls and their results. */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message } from '../../conversation/message.ts';
import { toJson } from '../content.ts';
import {
  LEFT_OUT,
  leaveOutEmpty,
  type MendContext,
  type Mender,
  plainRole,
  wordsOf,
} from '../mend/shaping.ts';
import { isKnownType, langchain, type OpenMessage, openMessage, withFields } from './format.ts';

/** The mender of LangChain messages. */
export const langchainMender: Mender = {
  isMessage: (value) => openMessage(value) !== undefined,
  takes: (raw) => typeof raw === 'string' && raw.trim() !== '',
  fromText: (text) => ({ type: 'human', content: text }),
  shape,
  ids: () => ({
    // The calls of 2023 had none, and arguments as text.
    needsId: ({ raw }) => isObject(raw) && (raw['args'] !== undefined || raw['function'] !== undefined),
    withCallId: (call, id) => ({ ...call, id }),
    withAnsweredId(result, id) {
      const open = openMessage(result);
      return open === undefined ? result : withFields(result, open, { tool_call_id: id });
    },
  }),
  withCalls,
};

const TYPES = { user: 'human', assistant: 'ai', system: 'system' } as const;

function shape(raw: JsonObject, { log }: MendContext): readonly unknown[] {
  const message = withRealCalls(raw, log);
  const open = openMessage(message);
  if (open === undefined || open.type === 'remove') return [message];
  if (!isKnownType(open.type)) return [withKnownType(message, open, log)];
  const { content, tool_calls: calls } = open.fields;
  if (typeof content === 'string' || Array.isArray(content)) return [message];
  const isBare = asList(calls).length === 0 && open.type !== 'tool' && open.type !== 'function';
  if ((content ?? null) === null && isBare) return leaveOutEmpty(log);
  log.add('message without content', 'given an empty text');
  return [withFields(message, open, { content: isObject(content) ? [content] : wordsOf(content) })];
}

function withKnownType(
  message: JsonObject,
  { type, fields }: OpenMessage,
  log: MendContext['log'],
): JsonObject {
  const hasCalls = asList(fields['tool_calls']).length > 0;
  const role = hasCalls ? 'assistant' : plainRole(type);
  log.add('message of an unknown role', `taken for the ${role}'s`);
  const { role: _role, ...rest } = fields;
  return { ...rest, type: TYPES[role], content: rest['content'] ?? toJson(message) ?? '' };
}

/** The message without what stands among its calls and is none. */
function withRealCalls(message: JsonObject, log: MendContext['log']): JsonObject {
  const open = openMessage(message);
  const calls = asList(open?.fields['tool_calls']);
  const real = calls.filter((call) => isObject(call) && typeof call['name'] === 'string');
  if (open === undefined || real.length === calls.length) return message;
  log.add('value that is no tool call', LEFT_OUT, calls.length - real.length);
  return withFields(message, open, { tool_calls: real });
}

/** A call stands in `tool_calls`, and may stand in the content as well: both get the same id, or go together. */
function withCalls(message: Message, replaced: ReadonlyMap<number, readonly Block[]>): Message | undefined {
  const open = openMessage(message.raw);
  const calls = message.blocks.filter(
    (block, position) => block.type === 'tool-call' && replaced.has(position),
  );
  if (open === undefined || calls.length === 0) return undefined;
  const listed = asList(open.fields['tool_calls']);
  const isListed = new Set(listed);
  const own: unknown[] = [];
  const homes = new Set<unknown>();
  const changed = new Map<unknown, unknown>();
  const newIds = new Map<unknown, unknown>();
  for (const [position, block] of message.blocks.entries()) {
    if (block.type !== 'tool-call') continue;
    const [after] = replaced.get(position) ?? [block];
    if (isListed.has(block.raw)) {
      homes.add(block.raw);
      if (after !== undefined) own.push(after.raw);
    } else if (after !== block) {
      changed.set(block.raw, after?.raw);
      newIds.set(block.id, after?.type === 'tool-call' ? after.id : undefined);
    }
  }
  const mirrored = listed.filter((entry) => !homes.has(entry)).flatMap((entry) => renamed(entry, newIds));
  const { content } = open.fields;
  const isGone = (block: unknown) => changed.has(block) && changed.get(block) === undefined;
  const fields: JsonObject = {
    tool_calls: [...own, ...mirrored],
    ...(Array.isArray(content) && changed.size > 0
      ? { content: content.filter((block) => !isGone(block)).map((block) => changed.get(block) ?? block) }
      : {}),
  };
  const { responseId, usage } = message;
  return { ...langchain.readMessage(withFields(message.raw, open, fields)), responseId, usage };
}

function renamed(entry: unknown, newIds: ReadonlyMap<unknown, unknown>): readonly unknown[] {
  if (!isObject(entry) || !newIds.has(entry['id'])) return [entry];
  const id = newIds.get(entry['id']);
  return id === undefined ? [] : [{ ...entry, id }];
}
