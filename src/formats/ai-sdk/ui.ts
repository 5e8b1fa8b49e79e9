import type { Conversation, Format, Frame, Recognition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, Message, ToolCallBlock, ToolResultBlock } from '../../conversation/message.ts';
import { plainSha256 } from '../../conversation/sha256.ts';
import {
  callBlock,
  joinTexts,
  mediaOfType,
  otherBlock,
  resultBlock,
  rewriteResult,
  splitResults,
  textBlock,
} from '../content.ts';
import { bareFrame, findList, joinVerdicts, listIn, readResponseId, replaceUnderKey } from '../frame.ts';
import { rememberViews } from '../view-memory.ts';
import {
  readCustomPart,
  readDenial,
  readFile,
  readOutputValue,
  readReasoningFile,
  readReasoningPart,
  readTextPart,
  sealOnce,
  type ToolOutput,
} from './parts.ts';

const readMessage = rememberViews(readView);

/**
 * `UIMessage[]` of the Vercel AI SDK, bare or as the `{messages, …}` a chat posts.
 *
 * One assistant message holds all steps of an answer, and a tool part is call and result in one, so a message is never
 * taken apart and its steps stay grouped as they came. Parts that are only shown (sources, data) have no block; they
 * keep their place when other parts go.
 */
export const aiSdkUi: Format = {
  name: 'ai-sdk-ui',
  summary:
    'Vercel AI SDK UI messages: one assistant message with all its steps, a tool part is call and result',
  listKey: 'messages',
  tools: { resultsStand: 'following-messages', callIdsUniqueAmong: 'open-calls' },
  userFirst: false,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList,

  textBlock,
  failedResult(call, text) {
    const [, result] = readUiPart(failedToolPart(call, text));
    return result as ToolResultBlock; // a tool part in the state `output-error` reads as call and result
  },
  withResultContent: (result, content) =>
    rewriteResult(result, content, (raw) => {
      const part = withToolOutput(raw, joinTexts(content));
      const [, written] = part === undefined ? [] : readUiPart(part);
      return written?.type === 'tool-result' ? written : undefined;
    }),
  // A tool part belongs into an assistant message, even one that was made up: the user has none.
  userMessages(blocks) {
    const { results, others } = splitResults(blocks);
    return [
      ...(results.length === 0 ? [] : [{ role: 'assistant', parts: results.map(({ raw }) => raw) }]),
      ...(others.length === 0 ? [] : [{ role: 'user', parts: partsOf(others) }]),
    ].map(readMessage);
  },
  withBlocks(message, blocks) {
    const raw = isObject(message.raw) ? message.raw : { role: message.role };
    return readMessage({ ...raw, parts: mergeParts(asList(raw['parts']), partsOf(blocks)) });
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, aiSdkUi.listKey, 'AI SDK UI');
  return { format: aiSdkUi, frame: bareFrame(body, list), messages: list.map(readMessage) };
}

function readView(raw: unknown): Message {
  const message: JsonObject = isObject(raw) ? raw : {};
  const { role } = message;
  return {
    role: role === 'assistant' || role === 'system' ? role : 'user',
    blocks: readParts(asList(message['parts'])),
    // A message that goes on after a tool ran keeps its id, and every answer has an id of its own.
    responseId: role === 'assistant' ? readResponseId(message['id']) : undefined,
    usage: undefined,
    raw,
  };
}

/** A message of nothing but shown parts has them for blocks: it is not empty, and a program may make text of them. */
function readParts(parts: readonly unknown[]): readonly Block[] {
  const blocks = sealOnce(parts.flatMap(readUiPart));
  if (blocks.length > 0) return blocks;
  return parts.map((raw) => otherBlock(raw, isObject(raw) ? asString(raw['type']) : undefined));
}

/** The body with another list. Messages that are new get an id, which the SDK demands of every one. */
function replaceList(frame: Frame, list: readonly unknown[]): unknown {
  const known = new Set(frame.list);
  const taken = new Set(list.map(idOf));
  // The same words in two chats are two messages: many keep them under their ids alone.
  const chat = frame.list.map(idOf).find((id) => id !== undefined) ?? '';
  const messages = list.map((raw) => {
    if (known.has(raw) || !isObject(raw) || raw['id'] !== undefined) return raw;
    const digest = plainSha256(`${chat}\n${JSON.stringify(raw)}`).slice(0, ID_DIGITS);
    const id = freeId(`roundfold-${digest}`, taken);
    taken.add(id);
    return { id, ...raw };
  });
  return replaceUnderKey(frame.body, aiSdkUi.listKey, messages);
}

/** Hexadecimal digits of an id: 64 bits are enough to tell the messages of all chats apart. */
const ID_DIGITS = 16;

/** The id, or the first one with a number behind it that nobody has. */
function freeId(id: string, taken: ReadonlySet<string | undefined>): string {
  let free = id;
  for (let count = 2; taken.has(free); count++) free = `${id}-${count}`;
  return free;
}

function idOf(raw: unknown): string | undefined {
  return isObject(raw) ? asString(raw['id']) : undefined;
}

/**
 * The parts these blocks stand for. Call and result are one part, which stays as long as the call does; a result from
 * elsewhere brings the part that takes the place of its call's.
 */
function partsOf(blocks: readonly Block[]): readonly unknown[] {
  const results = blocks.filter((block) => block.type === 'tool-result');
  const answered = new Set(results.map((result) => result.raw));
  const partOfCall = new Map(results.map((result) => [result.callId, result.raw]));
  const parts = blocks.flatMap((block) => {
    if (block.type === 'tool-result') return [];
    if (block.type !== 'tool-call' || answered.has(block.raw)) return [block.raw];
    return [partOfCall.get(block.id) ?? block.raw];
  });
  return [...new Set(parts)];
}

/**
 * The new parts in their order, with the old ones that no block stands for where they stood. An old part that is gone
 * gives its place to a new one, if one follows.
 */
function mergeParts(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const positions = new Map(after.map((part, index) => [part, index]));
  const old = new Set(before);
  const merged: unknown[] = [];
  let written = 0;
  const writeUpTo = (end: number) => {
    merged.push(...after.slice(written, end));
    written = Math.max(written, end);
  };
  for (const part of before) {
    const position = positions.get(part);
    if (position !== undefined) writeUpTo(position + 1);
    else if (readUiPart(part).length === 0) merged.push(part);
    else if (written < after.length && !old.has(after[written])) writeUpTo(written + 1);
  }
  writeUpTo(after.length);
  return merged;
}

/**
 * The views of one part: none for what is only shown to people (sources, data), two for a tool that has answered (its
 * call and its result, both with the part as their raw value), one for everything else.
 */
function readUiPart(raw: unknown): readonly Block[] {
  if (!isObject(raw)) return [otherBlock(raw)];
  const type = asString(raw['type']) ?? '';
  if (isOnlyShown(type)) return [];
  if (isToolPart(type, raw)) return readToolPart(type, raw);
  return [readers.get(type)?.(raw) ?? otherBlock(raw, asString(raw['type']))];
}

/** The part of a failed call: what `call` was, and that it came to nothing. */
export function failedToolPart(call: ToolCallBlock, text: string): JsonObject {
  const part = isObject(call.raw)
    ? call.raw
    : { type: 'dynamic-tool', toolName: call.name, toolCallId: call.id, input: call.input };
  const { output: _output, approval: _approval, preliminary: _preliminary, ...rest } = part;
  return { ...rest, state: 'output-error', errorText: text };
}

/**
 * A tool part that has answered, with another answer; undefined where the provider ran the tool, which takes its own
 * answer back only as it was.
 */
function withToolOutput(part: JsonObject, text: string): JsonObject | undefined {
  if (part['providerExecuted'] === true) return undefined;
  switch (part['state']) {
    case 'output-available':
      return { ...part, output: text };
    case 'output-error':
      return { ...part, errorText: text };
    default:
      return { ...part, approval: { ...approvalOf(part), reason: text } };
  }
}

/** The SDK leaves these out of what it sends; data parts go only if the program turns them into something else. */
function isOnlyShown(type: string): boolean {
  return type === 'source-url' || type === 'source-document' || type.startsWith('data-');
}

const STATIC_TOOL = 'tool-';

function isToolPart(type: string, raw: JsonObject): boolean {
  return (type === 'dynamic-tool' || type.startsWith(STATIC_TOOL)) && typeof raw['toolCallId'] === 'string';
}

const readers = new Map<string, (raw: JsonObject) => Block | undefined>([
  ['text', (raw) => readTextPart(raw, raw['providerMetadata'])],
  ['reasoning', (raw) => readReasoningPart(raw, raw['providerMetadata'])],
  ['reasoning-file', readReasoningFile],
  ['file', (raw) => readFile(raw, raw['url'], mediaOfType(asString(raw['mediaType']) ?? ''))],
  ['custom', readCustomPart],
  ['steering-message', readSteering],
]);

/** What the user said while the assistant was at work: it stands inside the assistant's message. */
function readSteering(raw: JsonObject): Block {
  const texts = asList(raw['parts']).map((part) => (isObject(part) ? asString(part['text']) : undefined));
  return { type: 'text', text: texts.filter((text) => text !== undefined).join('\n'), raw };
}

/**
 * The result stands in the assistant's own message, where nobody else may add one: to roundfold that is what a tool
 * run by the server looks like, whoever ran it.
 */
function readToolPart(type: string, raw: JsonObject): readonly Block[] {
  const name = type === 'dynamic-tool' ? (asString(raw['toolName']) ?? '') : type.slice(STATIC_TOOL.length);
  const id = raw['toolCallId'];
  const input = raw['input'] ?? raw['rawInput'];
  const call = callBlock(raw, { id, name, input, runBy: 'server' });
  const output = outputOf(raw);
  if (output === undefined) return [call];
  return [call, resultBlock(raw, { callId: id, name, ...output, runBy: 'server' })];
}

/** What a tool part says in the states in which it holds its result. In all others (input, approval) it is not answered. */
function outputOf(raw: JsonObject): ToolOutput | undefined {
  const { approved, reason } = approvalOf(raw);
  switch (raw['state']) {
    case 'output-available':
      return { content: readOutputValue(raw['output']), isError: false };
    case 'output-error':
      return { content: readOutputValue(raw['errorText']), isError: true };
    case 'output-denied':
      return readDenial(reason, raw);
    case 'approval-responded':
      // A denial is the answer already; an approved tool is yet to run.
      return approved === false ? readDenial(reason, raw) : undefined;
    default:
      return undefined;
  }
}

function approvalOf(raw: JsonObject): JsonObject {
  return isObject(raw['approval']) ? raw['approval'] : {};
}

const ROLES = new Set(['system', 'user', 'assistant']);

function recognise(value: unknown): Recognition {
  const list = listIn(value);
  return list === undefined || list.length === 0
    ? 'no'
    : joinVerdicts(list.map(recogniseMessage), 'possible');
}

/** Gemini's contents have parts too, but without a type. */
function recogniseMessage(message: unknown): Recognition {
  if (!isObject(message) || !ROLES.has(asString(message['role']) ?? '')) return 'no';
  const parts = message['parts'];
  if (!Array.isArray(parts)) return 'no';
  if (!parts.every((part) => isObject(part) && typeof part['type'] === 'string')) return 'no';
  return parts.length > 0 ? 'certain' : 'possible';
}
