import { join } from 'node:path';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import {
  type Block,
  type CompactionBlock,
  callArguments,
  type Message,
  type ReasoningBlock,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../../conversation/message.ts';
import type { ChangeLog } from '../../formats/change-log.ts';
import { piSessions } from '../agent-folders.ts';
import { createClock, type NewSession, type SessionWriter, shellWord, toLines } from '../session-writer.ts';
import { inlineImage } from '../written-media.ts';

/**
 * Session files of pi, version 3. A memory is a message like the others: pi's own compaction record would move it in
 * front of the user's first words and put it into words of pi's. Usage is zero: nobody has paid for a request with this
 * file yet, and pi takes the newest usage for the size of its context.
 */
export const piWriter: SessionWriter = {
  name: 'pi',
  summary: 'pi coding agent session (JSONL)',
  formats: ['anthropic-messages', 'openai-responses'],
  write({ messages, format }, about, log) {
    const { folder, recorded, now, createId } = about;
    const id = createId();
    const api = format.name;
    const author = {
      api,
      provider: recorded?.provider ?? (api === 'anthropic-messages' ? 'anthropic' : 'openai'),
      model: about.model ?? 'unknown',
    };
    const chain = startChain(about);
    chain.add({ type: 'model_change', provider: author.provider, modelId: author.model });
    const entries = createEntries(author, log);
    for (const message of messages) entries.add(message);
    for (const message of entries.finish()) chain.add({ type: 'message', message });
    // pi lists a session below the one that it names here.
    const parent = about.source === undefined ? {} : { parentSession: about.source };
    const header = { type: 'session', version: 3, id, timestamp: now.toISOString(), cwd: folder, ...parent };
    return { id, text: toLines([header, ...chain.records]) };
  },
  locate({ id }, { folder, now }, environment) {
    const project = `--${folder.replace(/^[/\\]/, '').replaceAll(/[/\\:]/g, '-')}--`;
    const name = `${now.toISOString().replaceAll(/[:.]/g, '-')}_${id}.jsonl`;
    const path = join(piSessions(environment), project, name);
    return { path, command: `pi --session ${shellWord(path)}` };
  },
};

/** Records that hang on each other, the newest last. */
function startChain({ now, createId }: NewSession) {
  const records: object[] = [];
  const used = new Set<string>();
  const clock = createClock(now);
  let parentId: string | null = null;
  const shortId = (): string => {
    const id = createId();
    return used.has(id.slice(0, 8)) ? id : id.slice(0, 8);
  };
  return {
    records,
    add({ type, message, ...rest }: JsonObject): void {
      const id = shortId();
      used.add(id);
      const time = clock();
      const timed = isObject(message) ? { message: { ...message, timestamp: time.getTime() } } : {};
      records.push({ type, id, parentId, timestamp: time.toISOString(), ...rest, ...timed });
      parentId = id;
    },
  };
}

interface Author {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/** Turns messages of either format into pi's own. What the model says in a row is one message of pi's. */
function createEntries(author: Author, log: ChangeLog) {
  const written: JsonObject[] = [];
  const toolNames = new Map<string | undefined, string>();
  let said: JsonObject[] = [];
  const endTurn = (): void => {
    if (said.length > 0) written.push(assistantMessage(said, author));
    said = [];
  };
  // What a provider wrote about earlier messages stands where they stood: in front of the rest.
  const addSummary = ({ text }: CompactionBlock): void => {
    log.add(
      'summary by the provider',
      text === '' ? 'left out, since only the provider can read it' : 'kept as its text',
    );
    if (text === '') return;
    endTurn();
    written.push({ role: 'user', content: [{ type: 'text', text }] });
  };
  const addAssistant = ({ blocks, raw }: Message): void => {
    // Anthropic messages are turns already; Responses items are pieces of one.
    if (author.api === 'anthropic-messages') endTurn();
    for (const block of blocks) {
      if (block.type === 'compaction') addSummary(block);
      if (block.type === 'tool-call') toolNames.set(block.id, block.name);
      said.push(...assistantBlock(block, raw, log));
    }
  };
  const addUser = ({ blocks }: Message): void => {
    endTurn();
    const results = blocks.filter((block) => block.type === 'tool-result');
    for (const result of results) written.push(resultMessage(result, toolNames, log));
    const content = blocks.flatMap((block) => (block.type === 'tool-result' ? [] : userBlock(block, log)));
    if (content.length > 0) written.push({ role: 'user', content });
  };
  return {
    add(message: Message): void {
      if (message.role === 'assistant') addAssistant(message);
      else if (message.role === 'user') addUser(message);
      else log.add('system message', 'left out, since pi writes its own');
    },
    finish(): readonly JsonObject[] {
      endTurn();
      return written;
    },
  };
}

function assistantMessage(content: readonly JsonObject[], author: Author): JsonObject {
  const isCall = content.some(({ type }) => type === 'toolCall');
  return { role: 'assistant', content, ...author, usage: NO_USAGE, stopReason: isCall ? 'toolUse' : 'stop' };
}

const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function resultMessage(
  result: ToolResultBlock,
  toolNames: ReadonlyMap<string | undefined, string>,
  log: ChangeLog,
): JsonObject {
  return {
    role: 'toolResult',
    toolCallId: result.callId ?? '',
    toolName: result.name ?? toolNames.get(result.callId) ?? 'unknown',
    content: result.content.flatMap((block) => userBlock(block, log)),
    isError: result.isError,
  };
}

/** A block in pi's own form, for users and tools. */
function userBlock(block: Block, log: ChangeLog): readonly JsonObject[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  const image = block.type === 'media' ? inlineImage(block) : undefined;
  if (image !== undefined) return [{ type: 'image', ...image }];
  const text = textOf(block);
  log.add('attachment', text === '' ? 'replaced by a note, since pi keeps none' : 'kept as its text');
  return [{ type: 'text', text: text === '' ? '[attachment left out]' : text }];
}

function assistantBlock(block: Block, item: unknown, log: ChangeLog): readonly JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, ...textSignature(item) }];
    case 'reasoning':
      return thinkingBlock(block);
    case 'tool-call':
      if (block.runBy === 'client') return [callBlock(block)];
      break;
    case 'compaction':
      return [];
    default:
      break;
  }
  log.add("block of the provider's own tools", 'left out');
  return [];
}

/** pi keeps the id of a Responses message beside its text. */
function textSignature(item: unknown): JsonObject {
  if (!isObject(item) || item['type'] !== 'message' || typeof item['id'] !== 'string') return {};
  const phase = asString(item['phase']);
  const signature = { v: 1, id: item['id'], ...(phase === undefined ? {} : { phase }) };
  return { textSignature: JSON.stringify(signature) };
}

function thinkingBlock({ text, raw }: ReasoningBlock): readonly JsonObject[] {
  if (!isObject(raw)) return [];
  if (raw['type'] === 'reasoning')
    return [{ type: 'thinking', thinking: text, thinkingSignature: JSON.stringify(raw) }];
  const { signature, data } = raw;
  if (raw['type'] === 'redacted_thinking')
    return [{ type: 'thinking', thinking: '', thinkingSignature: data, redacted: true }];
  return [{ type: 'thinking', thinking: text, thinkingSignature: signature }];
}

/** Free text of a call becomes an argument of it, since pi keeps objects only. */
function callBlock(call: ToolCallBlock): JsonObject {
  const item =
    isObject(call.raw) && call.raw['type'] === 'function_call' ? asString(call.raw['id']) : undefined;
  const id = item === undefined ? (call.id ?? '') : `${call.id ?? ''}|${item}`;
  return { type: 'toolCall', id, name: call.name, arguments: callArguments(call) ?? { input: call.input } };
}
