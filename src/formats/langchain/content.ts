/** Content blocks of LangChain messages, and calls that stand beside the content. */

import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, MediaBlock, ReasoningBlock, ToolCallBlock } from '../../conversation/message.ts';
import { base64Of } from '../ai-sdk/parts.ts';
import { readAnthropicBlock } from '../anthropic-messages/blocks.ts';
import { callBlock, mediaBlock, mediaOfType, otherBlock, readContent, resultBlock } from '../content.ts';
import { readGeminiPart } from '../gemini/format.ts';
import { readChatPart, readLegacyCall } from '../openai-chat/format.ts';

/** Content of a message: a string, a list of blocks, or nothing. */
export function readLangchainContent(content: unknown): readonly Block[] {
  return readContent(content, readLangchainBlock);
}

/**
 * The view of one content block: LangChain's own, or one that a provider's adapter left as it came. What nobody knows
 * becomes `other`.
 */
function readLangchainBlock(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  const type = isObject(raw) ? asString(raw['type']) : undefined;
  if (!isObject(raw) || type === undefined) return otherBlock(raw, type);
  return readers.get(type)?.(raw) ?? readAnthropicBlock(raw);
}

/** The view of reasoning, be it LangChain's block or an item of OpenAI's Responses API. */
function readLangchainReasoning(raw: JsonObject): ReasoningBlock {
  const summary = asList(raw['summary']).map((part) => (isObject(part) && asString(part['text'])) || '');
  const text = asString(raw['reasoning']) ?? summary.join('\n');
  const sealed = asString(raw['encrypted_content']) ?? (text === '' ? asString(raw['signature']) : undefined);
  return { type: 'reasoning', text, sealed, raw };
}

type BlockReader = (raw: JsonObject) => Block | undefined;

const readers = new Map<string, BlockReader>([
  ['reasoning', readLangchainReasoning],
  ['tool_call', (raw) => readCall(raw, 'client')],
  ['server_tool_call', (raw) => readCall(raw, 'server')],
  ['server_tool_call_result', readServerResult],
  ['function_call', readFunctionCall],
  ['functionCall', readGeminiPart],
  ['image', (raw) => (isObject(raw['source']) ? undefined : readMedia(raw, 'image'))],
  ['audio', (raw) => readMedia(raw, 'audio')],
  ['video', (raw) => readMedia(raw, 'video')],
  ['file', (raw) => (isObject(raw['file']) ? readChatPart(raw) : readMedia(raw, mediaOfFile(raw)))],
  ['text-plain', (raw) => readMedia(raw, 'document')],
  ['image_url', readChatPart],
  ['input_audio', readChatPart],
]);

function readCall(raw: JsonObject, runBy: ToolCallBlock['runBy']): Block {
  return callBlock(raw, { id: raw['id'], name: raw['name'], input: raw['args'], runBy });
}

function readFunctionCall(raw: JsonObject): Block {
  const id = asString(raw['call_id']) ?? raw['id'];
  return callBlock(raw, { id, name: raw['name'], input: raw['arguments'] });
}

function readServerResult(raw: JsonObject): Block {
  const callId = asString(raw['toolCallId']) ?? raw['tool_call_id'];
  const isError = raw['status'] === 'error';
  return resultBlock(raw, { callId, content: [otherBlock(raw['output'])], isError, runBy: 'server' });
}

/** Both generations of multimodal blocks: `mimeType` with `data`, `url` or `fileId`, and `mime_type` with a `source_type`. */
function readMedia(raw: JsonObject, media: MediaBlock['media']): MediaBlock {
  const data = base64Of(raw['data'] ?? raw['url']);
  return mediaBlock(media, raw, { data, text: asString(raw['text']) });
}

function mediaOfFile(raw: JsonObject): MediaBlock['media'] {
  return mediaOfType(asString(raw['mimeType']) ?? asString(raw['mime_type']) ?? '');
}

/** What a message holds beside its content. */
export interface Beside {
  /** Reasoning and calls that stand nowhere in the content. */
  readonly reasoning: readonly Block[];
  readonly calls: readonly Block[];
  /** For every value beside the content the raw value of the one block that stands for it. */
  readonly homes: ReadonlyMap<unknown, unknown>;
}

/**
 * Reads what stands beside the content, and finds a block for each call however often it is written down: as a
 * provider's block in the content, in `tool_calls`, and raw in `additional_kwargs`.
 *
 * Where `tool_calls` is empty the raw calls are the ones that adapters send. Invalid calls are not sent: those that
 * stand nowhere else become `other`.
 */
export function readBeside(fields: JsonObject, content: readonly Block[]): Beside {
  const homes = new Map<unknown, unknown>();
  const reasoning = readReasoningItem(fields, content, homes);
  const sent = readSentCalls(fields, content, homes);
  const calls = [...content, ...sent].filter((block) => block.type === 'tool-call');
  const callById = new Map(calls.map((call) => [call.id, call]));
  const invalid: Block[] = [];
  for (const entry of asList(fields['invalid_tool_calls'])) {
    const call = callById.get(idOf(entry));
    if (call === undefined) invalid.push(otherBlock(entry, 'invalid_tool_call'));
    homes.set(entry, call === undefined ? entry : call.raw);
  }
  for (const entry of asList(extrasOf(fields)['tool_calls'])) {
    const call = callById.get(idOf(entry));
    if (call !== undefined && !homes.has(entry)) homes.set(entry, call.raw);
  }
  return { reasoning, calls: [...sent, ...invalid], homes };
}

/** The fields that change when only the blocks with these raw values are kept. None when nothing is lost. */
export function keepBeside(
  fields: JsonObject,
  { homes }: Beside,
  kept: ReadonlySet<unknown>,
): Readonly<Record<string, unknown>> {
  const isKept = (value: unknown) => !homes.has(value) || kept.has(homes.get(value));
  const extras = extrasOf(fields);
  const keptExtras = {
    ...Object.fromEntries(Object.entries(extras).filter(([, value]) => isKept(value))),
    ...filterLists(extras, ['tool_calls'], isKept),
  };
  const isSame = Object.entries(extras).every(([key, value]) => Object.is(keptExtras[key], value));
  return {
    ...filterLists(fields, ['tool_calls', 'invalid_tool_calls'], isKept),
    ...(isSame ? {} : { additional_kwargs: keptExtras }),
  };
}

/** What an adapter keeps of the provider's answer. */
function extrasOf(fields: JsonObject): JsonObject {
  return isObject(fields['additional_kwargs']) ? fields['additional_kwargs'] : {};
}

/** OpenAI's reasoning item, which its adapter keeps beside the content; in newer versions also in it. */
function readReasoningItem(
  fields: JsonObject,
  content: readonly Block[],
  homes: Map<unknown, unknown>,
): readonly Block[] {
  const { reasoning } = extrasOf(fields);
  if (!isObject(reasoning)) return [];
  const known = content.find((block) => block.type === 'reasoning');
  homes.set(reasoning, known === undefined ? reasoning : known.raw);
  return known === undefined ? [readLangchainReasoning(reasoning)] : [];
}

/** Blocks of the calls that adapters send and that are not in the content. */
function readSentCalls(
  fields: JsonObject,
  content: readonly Block[],
  homes: Map<unknown, unknown>,
): readonly Block[] {
  const { tool_calls: raw, function_call: legacy } = extrasOf(fields);
  const listed = asList(fields['tool_calls']);
  const sent = listed.length > 0 ? listed : asList(raw);
  const take = takeFrom(content.filter((block) => block.type === 'tool-call'));
  const blocks: Block[] = [];
  for (const entry of sent) {
    const known = take(entry);
    const block = known ?? readEntry(entry);
    if (known === undefined) blocks.push(block);
    homes.set(entry, block.raw);
  }
  // The call of 2023, before calls had ids: adapters send it only where there is no other.
  if (sent.length > 0 || !isObject(legacy)) return blocks;
  homes.set(legacy, legacy);
  return [readLegacyCall(legacy)];
}

/** Finds the call of an entry by its id; where the content gives none (Gemini), by name and order. */
function takeFrom(calls: readonly ToolCallBlock[]): (entry: unknown) => ToolCallBlock | undefined {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const unnamed = calls.filter(({ id }) => id === undefined);
  return (entry) => {
    const id = idOf(entry);
    const call = id === undefined ? undefined : byId.get(id);
    if (call !== undefined) {
      byId.delete(id);
      return call;
    }
    const index = unnamed.findIndex(({ name }) => name === nameOf(entry));
    return index === -1 ? undefined : unnamed.splice(index, 1)[0];
  };
}

function filterLists(
  fields: JsonObject,
  names: readonly string[],
  isKept: (entry: unknown) => boolean,
): Readonly<Record<string, unknown>> {
  const changed = names.flatMap((name): [string, unknown][] => {
    const list = asList(fields[name]);
    const rest = list.filter(isKept);
    return rest.length === list.length ? [] : [[name, rest]];
  });
  return Object.fromEntries(changed);
}

function idOf(entry: unknown): string | undefined {
  return isObject(entry) ? asString(entry['id']) : undefined;
}

function nameOf(entry: unknown): string {
  if (!isObject(entry)) return '';
  const called = entry['function'];
  return asString(isObject(called) ? called['name'] : entry['name']) ?? '';
}

function readEntry(raw: unknown): Block {
  if (!isObject(raw)) return otherBlock(raw);
  const called = raw['function'];
  const input = isObject(called) ? called['arguments'] : raw['args'];
  return callBlock(raw, { id: raw['id'], name: nameOf(raw), input });
}
