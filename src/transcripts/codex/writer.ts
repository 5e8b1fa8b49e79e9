import { join } from 'node:path';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { isUserText, type Message, textOf } from '../../conversation/message.ts';
import type { ChangeLog } from '../../formats/change-log.ts';
import { codexSessions } from '../agent-folders.ts';
import { createClock, findMemory, type SessionWriter, toLines } from '../session-writer.ts';

/**
 * Rollouts of Codex. A memory and what stands in front of it become the replacement history of a `compacted` record, as
 * the agent does it itself; what follows are items. What people said and were told is written once more as events: the
 * agent lists only sessions that have some, and shows nothing else of a session on its screen. There is no token count:
 * nobody has made a request with this file yet, and the agent takes the newest count for the size of its context.
 */
export const codexWriter: SessionWriter = {
  name: 'codex',
  summary: 'Codex rollout (JSONL)',
  formats: ['openai-responses'],
  write({ messages, frame }, { folder, model, recorded, now, createId }, log) {
    const id = createId();
    const clock = createClock(now);
    const record = (type: string, payload: object) => ({ timestamp: clock().toISOString(), type, payload });
    const instructions = frame.system.map(textOf).join('\n\n');
    const items = messages.map((message) => toItem(message, log));
    const memory = findMemory(messages);
    const shown = (message: Message | undefined) =>
      eventsOf(message).map((event) => record('event_msg', event));
    const covered = messages.slice(0, Math.max(0, memory)).flatMap(shown);
    return {
      id,
      text: toLines([
        record('session_meta', {
          id,
          timestamp: now.toISOString(),
          cwd: folder,
          originator: 'roundfold',
          cli_version: recorded?.version ?? VERSION,
          source: 'cli',
          ...(recorded?.provider === undefined ? {} : { model_provider: recorded.provider }),
          ...(recorded?.branch === undefined ? {} : { git: { branch: recorded.branch } }),
          ...(instructions === '' || recorded === undefined
            ? {}
            : { base_instructions: { text: instructions } }),
        }),
        // The agent warns of another model's session, and tells the model about it.
        ...(model === undefined || recorded === undefined
          ? []
          : [record('turn_context', turnContext(folder, model))]),
        ...(memory === -1
          ? []
          : [
              ...covered,
              record('compacted', { message: '', replacement_history: items.slice(0, memory + 1) }),
              record('event_msg', { type: 'context_compacted' }),
            ]),
        ...items
          .slice(memory + 1)
          .flatMap((item, index) => [record('response_item', item), ...shown(messages[memory + 1 + index])]),
      ]),
    };
  },
  locate({ id }, { now }, environment) {
    const [date = '', time = ''] = localTime(now);
    const name = `rollout-${date}T${time}-${id}.jsonl`;
    const path = join(codexSessions(environment), ...date.split('-'), name);
    return { path, command: `codex resume ${id}` };
  },
};

/** What the agent writes where the recording does not say which version it was. */
const VERSION = '0.100.0';

/** The strictest settings: whoever resumes the session works under those of the configuration. */
function turnContext(folder: string, model: string): object {
  return {
    cwd: folder,
    approval_policy: 'on-request',
    sandbox_policy: { type: 'read-only' },
    model,
    summary: 'auto',
  };
}

/** Date and time of the day as the agent has them in its file names. */
function localTime(now: Date): readonly string[] {
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  return [date, [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('-')];
}

/** How texts begin that the agent writes in the user's name, and does not show. */
const HARNESS = /^(?:<[a-zA-Z_-]{2,40}>|# AGENTS\.md)/;

/** What the agent shows of a message. */
function eventsOf(message: Message | undefined): readonly object[] {
  if (message === undefined || (message.role !== 'assistant' && !isUserText(message))) return [];
  const text = message.blocks
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim();
  if (text === '') return [];
  if (message.role === 'assistant') return [{ type: 'agent_message', message: text }];
  return HARNESS.test(text)
    ? []
    : [{ type: 'user_message', message: text, images: [], local_images: [], text_elements: [] }];
}

/** An item in the form that the agent reads: every one has a type, and content is a list. */
function toItem({ raw, role }: Message, log: ChangeLog): JsonObject {
  const item: JsonObject = isObject(raw) ? raw : { role: 'user', content: asString(raw) ?? '' };
  const isMessage = item['type'] === 'message' || item['type'] === undefined;
  if (!isMessage) return item;
  const { content } = item;
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  const parts = typeof content === 'string' ? [{ type, text: content }] : asList(content);
  const isAsItIs = item['type'] === 'message' && parts === content && parts.every(isTaken);
  return isAsItIs
    ? item
    : { ...item, type: 'message', content: parts.map((part) => toPart(part, type, log)) };
}

/** Content that the agent can read back. A part of another type would cost the whole record. */
const PARTS: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'input_image']);

function isTaken(part: unknown): boolean {
  return isObject(part) && PARTS.has(part['type']);
}

function toPart(part: unknown, type: string, log: ChangeLog): unknown {
  if (isTaken(part)) return part;
  const text = isObject(part) ? (asString(part['text']) ?? asString(part['refusal'])) : asString(part);
  if (text !== undefined) return { type, text };
  log.add('attached file', 'replaced by a note, since Codex keeps none');
  return { type, text: '[attached file left out]' };
}
