import { join } from 'node:path';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import {
  type Block,
  callArguments,
  isUserText,
  type MediaBlock,
  type Message,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { readSummaryMessage } from '../../conversation/summary-message.ts';
import type { ChangeLog } from '../../formats/change-log.ts';
import { opencodeData } from '../agent-folders.ts';
import { createClock, type NewSession, type SessionWriter, shellWord } from '../session-writer.ts';
import { mediaTypeOf } from '../written-media.ts';

/**
 * Sessions of OpenCode, as its `import` takes them. Its own compaction would hide the user's first words, so a memory is a
 * message like the others. Usage and cost are zero: nobody has paid for a request with this session yet.
 */
export const opencodeWriter: SessionWriter = {
  name: 'opencode',
  summary: 'OpenCode session, for `opencode import` (JSON)',
  formats: ['anthropic-messages'],
  write({ messages }, about, log) {
    const { now, folder, createId, recorded } = about;
    const ids = createIds(about);
    const id = `ses_${randomPart(createId, 26)}`;
    const session = createSession(id, about, ids);
    const results = resultsByCall(messages);
    for (const message of messages) {
      if (message.role === 'assistant') session.answer(message, results, log);
      else session.say(message, log);
    }
    const time = { created: now.getTime(), updated: now.getTime() };
    const info = {
      id,
      slug: `roundfold-${randomPart(createId, 8)}`,
      projectID: 'global',
      directory: folder,
      title: titleOf(messages),
      version: recorded?.version ?? VERSION,
      time,
    };
    return { id, text: `${JSON.stringify({ info, messages: session.messages }, null, 2)}\n` };
  },
  locate({ id }, _about, environment) {
    const path = join(opencodeData(environment), 'roundfold', `${id}.json`);
    return { path, command: `opencode import ${shellWord(path)} && opencode --session ${id}` };
  },
};

/** What OpenCode is told where the recording does not say which version it was. */
const VERSION = '1.18.0';

function randomPart(createId: () => string, length: number): string {
  return createId().replaceAll('-', '').slice(0, length);
}

const LONGEST_TITLE = 80;

/** The first words of the user, as far as they are the user's own. */
function titleOf(messages: readonly Message[]): string {
  const texts = messages
    .filter((message) => isUserText(message) && readSummaryMessage(message) === undefined)
    .map(({ blocks }) => blocks.map(textOf).join(' ').trim());
  const text = texts.find((each) => each !== '' && each !== PLACEHOLDER_TEXT) ?? '';
  return text.slice(0, LONGEST_TITLE).replaceAll(/\s+/g, ' ') || 'Session by roundfold';
}

/** Ids that sort as they were made: OpenCode lists messages and parts by their ids. */
function createIds({ now, createId }: NewSession) {
  let count = 0n;
  return (prefix: 'msg' | 'prt'): string => {
    const rank = (BigInt(now.getTime()) * 0x1000n + ++count) & 0xffff_ffff_ffffn;
    return `${prefix}_${rank.toString(16).padStart(12, '0')}${randomPart(createId, 14)}`;
  };
}

/** The result of every call, by the call's id. */
function resultsByCall(messages: readonly Message[]): ReadonlyMap<string | undefined, ToolResultBlock> {
  return new Map(
    messages
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.type === 'tool-result' ? [[block.callId, block] as const] : [])),
  );
}

function createSession(sessionID: string, about: NewSession, nextId: ReturnType<typeof createIds>) {
  const { folder, model = 'unknown', recorded, now } = about;
  const messages: object[] = [];
  const clock = createClock(now);
  const providerID = recorded?.provider ?? 'anthropic';
  let parentID = '';
  const add = (info: JsonObject, parts: readonly JsonObject[]): string => {
    const id = nextId('msg');
    const owned = parts.map((part) => ({ ...part, id: nextId('prt'), sessionID, messageID: id }));
    messages.push({ info: { ...info, id, sessionID }, parts: owned });
    return id;
  };
  const ask = (parts: readonly JsonObject[]): void => {
    if (parts.length === 0) return;
    const time = { created: clock().getTime() };
    parentID = add({ role: 'user', time, agent: 'build', model: { providerID, modelID: model } }, parts);
  };
  // What a provider wrote about earlier messages stands where they stood: in front of the rest.
  const askWithSummaries = (blocks: readonly Block[], log: ChangeLog): void => {
    for (const block of blocks) {
      if (block.type !== 'compaction') continue;
      const { text } = block;
      log.add(
        'summary by the provider',
        text === '' ? 'left out, since only the provider can read it' : 'kept as its text',
      );
      if (text !== '') ask([{ type: 'text', text }]);
    }
  };
  return {
    messages,
    say({ role, blocks }: Message, log: ChangeLog): void {
      if (role === 'system') log.add('system message', 'written as a message of the user');
      askWithSummaries(blocks, log);
      const said = blocks.filter(({ type }) => type !== 'tool-result' && type !== 'compaction');
      ask(said.flatMap((block) => userPart(block, log)));
    },
    answer(
      { blocks }: Message,
      results: ReadonlyMap<string | undefined, ToolResultBlock>,
      log: ChangeLog,
    ): void {
      askWithSummaries(blocks, log);
      const created = clock().getTime();
      const parts = blocks.flatMap((block) => answerPart(block, results, created, log));
      if (parts.length === 0) return;
      const reason = parts.some(({ type }) => type === 'tool') ? 'tool-calls' : 'stop';
      const spent = { cost: 0, tokens: NO_TOKENS };
      const info = {
        role: 'assistant',
        parentID,
        mode: 'build',
        agent: 'build',
        path: { cwd: folder, root: folder },
        ...spent,
        modelID: model,
        providerID,
        time: { created, completed: created },
        finish: reason,
      };
      add(info, [{ type: 'step-start' }, ...parts, { type: 'step-finish', reason, ...spent }]);
    },
  };
}

const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

function userPart(block: Block, log: ChangeLog): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  const file = block.type === 'media' ? filePart(block) : undefined;
  if (file !== undefined) return [file];
  const text = textOf(block);
  log.add('attachment', text === '' ? 'left out' : 'kept as its text');
  return text === '' ? [] : [{ type: 'text', text }];
}

/** A picture or a document as OpenCode keeps it; undefined for what it has no place for. */
function filePart(block: MediaBlock): JsonObject | undefined {
  const source = isObject(block.raw) && isObject(block.raw['source']) ? block.raw['source'] : {};
  const mime = mediaTypeOf(block) ?? { image: 'image/png', document: 'application/pdf' }[String(block.media)];
  const url = block.data === undefined ? asString(source['url']) : `data:${mime};base64,${block.data}`;
  return mime === undefined || url === undefined
    ? undefined
    : { type: 'file', mime, filename: 'attachment', url };
}

function answerPart(
  block: Block,
  results: ReadonlyMap<string | undefined, ToolResultBlock>,
  at: number,
  log: ChangeLog,
): readonly JsonObject[] {
  const time = { start: at, end: at };
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, time }];
    case 'reasoning':
      return [{ type: 'reasoning', text: block.text, time, ...seal(block.raw) }];
    case 'tool-call':
      if (block.runBy === 'client') return [toolPart(block, results.get(block.id), at, log)];
      break;
    case 'compaction':
      return [];
    default:
      break;
  }
  log.add("block of the provider's own tools", 'left out');
  return [];
}

function seal(raw: unknown): JsonObject {
  if (!isObject(raw)) return {};
  const { signature, data } = raw;
  return { metadata: { anthropic: data === undefined ? { signature } : { redactedData: data } } };
}

function toolPart(
  call: ToolCallBlock,
  result: ToolResultBlock | undefined,
  at: number,
  log: ChangeLog,
): JsonObject {
  const input = callArguments(call) ?? { input: call.input };
  return { type: 'tool', tool: call.name, callID: call.id, state: stateOf(input, result, at, log) };
}

function stateOf(
  input: JsonObject,
  result: ToolResultBlock | undefined,
  at: number,
  log: ChangeLog,
): JsonObject {
  const time = { start: at, end: at };
  const content = result?.content ?? [];
  const files = content.flatMap((block) => (block.type === 'media' ? (filePart(block) ?? []) : []));
  const others = content.filter((block) => block.type !== 'media' || filePart(block) === undefined);
  const lost = others.filter((block) => block.type !== 'text' && textOf(block) === '').length;
  if (lost > 0) log.add("block of a tool's result", 'left out', lost);
  const text = others.map(textOf).join('\n');
  if (result === undefined || result.isError) {
    if (files.length > 0) log.add('attachment of a failed call', 'left out', files.length);
    return { status: 'error', input, error: text, time };
  }
  const attached = files.length === 0 ? {} : { attachments: files };
  return { status: 'completed', input, output: text, title: '', metadata: {}, time, ...attached };
}
