/** Repairs AI SDK UI messages, so that the SDK can make model messages of them. */

import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { MISSING_RESULT_TEXT } from '../../conversation/pairing.ts';
import { textPart } from '../content.ts';
import {
  isGiven,
  leaveOutEmpty,
  looseWords,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  replaceEntries,
  shapeParts,
  withRole,
} from '../mend/shaping.ts';
import { failedToolPart } from './ui.ts';

/** UI messages of the AI SDK: a tool part is call and result in one, so an open one gets its result in its place. */
export const aiSdkUiMender: Mender = {
  // Older versions had the text in `content`.
  isMessage: ({ parts, content }) => isGiven(parts ?? content),
  fromText: (text) => ({ role: 'user', parts: [textPart(text)] }),
  shape,
  arrange: (messages, context) => nameMessages(closeToolParts(messages, context), context),
};

function shape(message: JsonObject, { log }: MendContext): readonly unknown[] {
  const isContent = !Array.isArray(message['parts']);
  const parts = shapeParts(
    message,
    (part) => (isContent && typeof part === 'string' ? [textPart(part)] : shapePart(part, log)),
    log,
  );
  if (parts.every(isBorder)) return leaveOutEmpty(log);
  const named = withRole(message, plainRole(message['role']), log);
  return [parts === message['parts'] ? named : { ...named, parts }];
}

/** Where a step begins: nothing of it is sent. */
function isBorder(part: unknown): boolean {
  return isObject(part) && part['type'] === 'step-start';
}

function shapePart(part: unknown, log: MendContext['log']): readonly unknown[] {
  if (!isObject(part) || typeof part['type'] !== 'string') return looseWords(part, log).map(textPart);
  if (part['type'] !== 'file' || typeof part['url'] === 'string') return [part];
  log.add('document without data', NOTED);
  return [textPart(mediaNote('document'))];
}

/** Tools that were approved, or denied, in the last message are run by the SDK before it sends anything. */
function closeToolParts(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  return replaceEntries(messages, (message, index) => {
    const { raw, blocks } = message;
    const isLast = index === messages.length - 1;
    const answered = new Set(blocks.filter(({ type }) => type === 'tool-result').map((block) => block.raw));
    const failed = new Map<unknown, JsonObject>();
    for (const block of blocks) {
      if (block.type !== 'tool-call' || answered.has(block.raw) || !isObject(block.raw)) continue;
      const isSettled = isLast && block.raw['state'] === 'approval-responded';
      if (isSettled || block.raw['providerExecuted'] === true) continue;
      log.add('tool call without a result', 'given one that says so');
      failed.set(block.raw, failedToolPart(block, MISSING_RESULT_TEXT));
    }
    if (failed.size === 0 || !isObject(raw)) return [message];
    const parts = asList(raw['parts']).map((part) => failed.get(part) ?? part);
    return [format.readMessage({ ...raw, parts })];
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
    const fault = id === undefined ? 'message without an id' : 'message under the id of another one';
    log.add(fault, 'given its own');
    return [format.readMessage({ ...(isObject(raw) ? raw : {}), id: `mended-${count}` })];
  });
}

function idOf(raw: unknown): string | undefined {
  return isObject(raw) ? asString(raw['id']) : undefined;
}
