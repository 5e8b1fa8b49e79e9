import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT } from '../../conversation/pairing.ts';
import { toJson } from '../content.ts';
import {
  AS_TEXT,
  LEFT_OUT,
  looseText,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  replaceEntries,
  unwrapMessage,
} from '../mend/shaping.ts';
import { failedToolPart } from './ui.ts';

/** UI messages of the AI SDK: a tool part is call and result in one, so an open one gets its result in its place. */
export const aiSdkUiMender: Mender = {
  shape,
  arrange: (messages, context) => nameMessages(closeToolParts(messages, context), context),
};

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { log } = context;
  const message = unwrapMessage(raw, hasParts, log);
  if (!isObject(message) || (!hasParts(message) && typeof message['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', parts: [{ type: 'text', text }] }];
  }
  const parts = shapeParts(message, context);
  if (parts.every(isBorder)) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  const role = plainRole(message['role']);
  if (role !== message['role']) log.add('message of an unknown role', `taken for the ${role}'s`);
  const named = role === message['role'] ? message : { ...message, role };
  return [parts === message['parts'] ? named : { ...named, parts }];
}

/** Where a step begins: nothing of it is sent. */
function isBorder(part: unknown): boolean {
  return isObject(part) && part['type'] === 'step-start';
}

function hasParts(value: JsonObject): boolean {
  return (value['parts'] ?? value['content'] ?? null) !== null;
}

/** Older versions had the text in `content`. */
function shapeParts({ parts, content }: JsonObject, { log }: MendContext): readonly unknown[] {
  if (Array.isArray(parts))
    return replaceEntries(parts as readonly unknown[], (part) => shapePart(part, log));
  const found = [parts, content].find((value) => value !== undefined && value !== null);
  if (found === undefined) return [];
  log.add('content that is no list', 'put into one');
  const list = Array.isArray(found) ? (found as readonly unknown[]) : [found];
  return list.flatMap((part) =>
    typeof part === 'string' ? [{ type: 'text', text: part }] : shapePart(part, log),
  );
}

function shapePart(part: unknown, log: MendContext['log']): readonly unknown[] {
  if (isObject(part) && typeof part['type'] === 'string') {
    if (part['type'] !== 'file' || typeof part['url'] === 'string') return [part];
    log.add('document without data', NOTED);
    return [{ type: 'text', text: mediaNote('document') }];
  }
  const own = isObject(part) ? asString(part['text']) : asString(part);
  const text = own ?? toJson(part ?? undefined) ?? '';
  log.add('value that is no content part', text.trim() === '' ? LEFT_OUT : AS_TEXT);
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Tools that were approved, or denied, in the last message are run by the SDK before it sends anything. */
function closeToolParts(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  return replaceEntries(messages, (message, index) => {
    const { raw } = message;
    const isLast = index === messages.length - 1;
    const answered = new Set(
      message.blocks.map((block) => (block.type === 'tool-result' ? block.raw : undefined)),
    );
    const failed = new Map<unknown, JsonObject>();
    for (const block of message.blocks) {
      if (block.type !== 'tool-call' || answered.has(block.raw) || !isObject(block.raw)) continue;
      const isSettled = isLast && block.raw['state'] === 'approval-responded';
      if (isSettled || block.raw['providerExecuted'] === true) continue;
      log.add('tool call without a result', 'given one that says so');
      failed.set(block.raw, failedToolPart(block, MISSING_RESULT_TEXT));
    }
    if (failed.size === 0 || !isObject(raw)) return [message];
    return [
      format.readMessage({ ...raw, parts: asList(raw['parts']).map((part) => failed.get(part) ?? part) }),
    ];
  });
}

/** Every message has an id of its own. */
function nameMessages(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  const taken = new Set(messages.map(({ raw }) => idOf(raw)));
  const seen = new Set<string>();
  let count = 0;
  return replaceEntries(messages, (message) => {
    const { raw } = message;
    const id = idOf(raw);
    if (id !== undefined && !seen.has(id)) {
      seen.add(id);
      return [message];
    }
    do count++;
    while (taken.has(`mended-${count}`));
    log.add(
      id === undefined ? 'message without an id' : 'message under the id of another one',
      'given its own',
    );
    return [format.readMessage({ ...(isObject(raw) ? raw : {}), id: `mended-${count}` })];
  });
}

function idOf(raw: unknown): string | undefined {
  return isObject(raw) ? asString(raw['id']) : undefined;
}
