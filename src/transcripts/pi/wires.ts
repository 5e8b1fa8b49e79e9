import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { anthropicSegment, type Piece, type SegmentPieces } from '../anthropic-turns.ts';
import type { Tally } from '../records.ts';
import type { Origin, Segment } from '../transcript.ts';
import type { AssistantEntry, Author, Entry, ResultEntry, Surroundings } from './entries.ts';

/** Writes the entries of a session in one wire format. */
export interface Wire<Piece> {
  readonly format: string;
  /** The pieces of the conversation that an entry becomes; none for what is not sent. Asked once for every entry. */
  write(entry: Entry): readonly Piece[];
  segment(pieces: SegmentPieces<Piece>, surroundings: Surroundings): Segment;
}

/** APIs whose thinking signatures are Anthropic's. Those of other providers mean nothing in this format. */
const CLAUDE_APIS = new Set(['anthropic-messages', 'bedrock-converse-stream']);

/** A session as Anthropic messages, whichever API it was recorded with. */
export function anthropicWire(tally: Tally): Wire<Piece> {
  const calls = createCallIds();

  const writeBlock = (block: JsonObject, { api }: Author): readonly JsonObject[] => {
    if (block['type'] === 'thinking') return writeThinking(block, CLAUDE_APIS.has(api), tally);
    if (block['type'] !== 'toolCall') return [sharedBlock(block)];
    const id = calls.nameOf(asString(block['id']) ?? '');
    return [{ type: 'tool_use', id, name: block['name'], input: block['arguments'] ?? {} }];
  };

  const writeTurn = ({ content, author, isCutShort, origin }: AssistantEntry): readonly Piece[] => {
    const blocks = content.flatMap((block) => writeBlock(block, author));
    if (blocks.length > 0) return [{ role: 'assistant', content: blocks, origin }];
    tally.add(
      isCutShort
        ? '{n} aborted or failed turn{s} without content left out'
        : '{n} turn{s} without content left out',
    );
    return [];
  };

  return {
    format: 'anthropic-messages',
    write(entry) {
      if (entry.role === 'system') return [];
      if (entry.role === 'assistant') return writeTurn(entry);
      const { content: recorded, origin } = entry;
      const content = typeof recorded === 'string' ? recorded : recorded.map(sharedBlock);
      if (entry.role === 'user') return [{ role: 'user', content, origin }];
      const block = {
        type: 'tool_result',
        tool_use_id: calls.nameOf(entry.callId),
        ...(content.length > 0 ? { content } : {}),
        ...(entry.isError ? { is_error: true } : {}),
      };
      return [{ role: 'result', block, origin }];
    },
    segment(pieces, { instructions, tools }) {
      const segment = anthropicSegment(pieces);
      if (instructions === '' && tools.length === 0) return segment;
      const body = {
        ...(instructions === '' ? {} : { system: instructions }),
        ...(tools.length === 0 ? {} : { tools: tools.map(anthropicTool) }),
        messages: segment.body,
      };
      return { ...segment, body };
    },
  };
}

function anthropicTool({ name, description, parameters }: JsonObject): JsonObject {
  return { name, description, input_schema: parameters };
}

function writeThinking(block: JsonObject, isClaude: boolean, tally: Tally): readonly JsonObject[] {
  const signature = asString(block['thinkingSignature']) ?? '';
  if (!isClaude || signature === '') {
    tally.add('{n} thinking block{s} without an Anthropic signature left out');
    return [];
  }
  if (block['redacted'] === true) return [{ type: 'redacted_thinking', data: signature }];
  return [{ type: 'thinking', thinking: asString(block['thinking']) ?? '', signature }];
}

/** Text and images, as they occur in every role. Blocks of an unknown type stay the very same values. */
function sharedBlock(block: JsonObject): JsonObject {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string')
    return Object.keys(block).length === 2 ? block : { type, text };
  if (type === 'image' && typeof data === 'string')
    return { type, source: { type: 'base64', media_type: mimeType, data } };
  return block;
}

/** The APIs that take Responses items. */
const RESPONSES_APIS = new Set(['openai-responses', 'openai-codex-responses', 'azure-openai-responses']);

/** Whether turns of this API are Responses items. */
export function speaksResponses(api: string): boolean {
  return RESPONSES_APIS.has(api);
}

/** An item with its origin. */
interface ItemPiece {
  readonly item: JsonObject;
  readonly origin: Origin;
}

/**
 * A session as Responses items for the author of its newest turn. Reasoning and the ids of items are only for the
 * model that wrote them; turns of others keep what they say and call.
 */
export function responsesWire(newest: Author, tally: Tally): Wire<ItemPiece> {
  const calls = createCallIds();
  const unsentCalls = new Set<string>();

  const writeTurn = (entry: AssistantEntry): readonly ItemPiece[] => {
    // pi sends no turn that was cut short: its reasoning may lack the item that it led to.
    if (entry.isCutShort) {
      tally.add('{n} aborted or failed turn{s} left out');
      for (const { id } of entry.content) if (typeof id === 'string') unsentCalls.add(id);
      return [];
    }
    const isOwn = isSameAuthor(entry.author, newest);
    const items = entry.content.flatMap((block) => writeBlock(block, isOwn, { calls, tally }));
    return items.map((item, index) => {
      const isLast = index === items.length - 1;
      return { item, origin: isLast ? entry.origin : { ...entry.origin, usage: undefined } };
    });
  };

  const writeResult = (entry: ResultEntry): readonly ItemPiece[] => {
    if (unsentCalls.has(entry.callId)) return [];
    const item = {
      type: 'function_call_output',
      call_id: calls.nameOf(splitId(entry.callId).call),
      output: outputOf(entry.content),
    };
    return [{ item, origin: entry.origin }];
  };

  return {
    format: 'openai-responses',
    write(entry) {
      if (entry.role === 'system') return [];
      if (entry.role === 'assistant') return writeTurn(entry);
      if (entry.role === 'result') return writeResult(entry);
      return [{ item: { role: 'user', content: inputParts(entry.content) }, origin: entry.origin }];
    },
    segment({ compaction, carried, later }, { instructions, tools }) {
      const pieces = [...carried, ...later];
      const input = pieces.map(({ item }) => item);
      const isBare = instructions === '' && tools.length === 0;
      const surroundings = {
        ...(instructions === '' ? {} : { instructions }),
        ...(tools.length === 0 ? {} : { tools: tools.map(responsesTool) }),
      };
      return {
        body: isBare ? input : { ...surroundings, input },
        origins: pieces.map(({ origin }) => origin),
        opening: compaction === undefined ? undefined : { ...compaction, carried: carried.length },
      };
    },
  };
}

function isSameAuthor(left: Author, right: Author): boolean {
  return left.api === right.api && left.provider === right.provider && left.model === right.model;
}

function responsesTool({ name, description, parameters }: JsonObject): JsonObject {
  return { type: 'function', name, description, parameters, strict: false };
}

function writeBlock(
  block: JsonObject,
  isOwn: boolean,
  { calls, tally }: { readonly calls: CallIds; readonly tally: Tally },
): readonly JsonObject[] {
  if (block['type'] === 'toolCall') return [writeCall(block, isOwn, calls)];
  if (block['type'] === 'text') return [writeText(block, isOwn)];
  if (block['type'] !== 'thinking') return [block];
  const item = isOwn ? parseObject(block['thinkingSignature']) : undefined;
  if (item?.['type'] === 'reasoning') return [item];
  tally.add('{n} thinking block{s} that the newest model did not write left out');
  return [];
}

function writeCall(block: JsonObject, isOwn: boolean, calls: CallIds): JsonObject {
  const { call, item } = splitId(asString(block['id']) ?? '');
  // The ids of other kinds of calls are refused where a function is called.
  const hasId = isOwn && item.startsWith('fc_');
  return {
    type: 'function_call',
    ...(hasId ? { id: item } : {}),
    call_id: calls.nameOf(call),
    name: block['name'],
    arguments: JSON.stringify(block['arguments'] ?? {}),
  };
}

/** pi writes the id of the call and the id of its item as one: `call_1|fc_1`. */
function splitId(id: string): { readonly call: string; readonly item: string } {
  const bar = id.indexOf('|');
  return bar === -1 ? { call: id, item: '' } : { call: id.slice(0, bar), item: id.slice(bar + 1) };
}

function writeText({ text, textSignature: signature }: JsonObject, isOwn: boolean): JsonObject {
  const item = isOwn ? (parseObject(signature) ?? { id: signature }) : {};
  const { id, phase } = item;
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
    status: 'completed',
    ...(typeof id === 'string' && id.startsWith('msg') ? { id } : {}),
    ...(typeof phase === 'string' ? { phase } : {}),
  };
}

function inputParts(content: string | readonly JsonObject[]): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : content.map(inputPart);
}

/** Text and images in the form of the API. Blocks of an unknown type stay the very same values. */
function inputPart(block: JsonObject): JsonObject {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return { type: 'input_text', text };
  if (type !== 'image' || typeof data !== 'string') return block;
  return { type: 'input_image', detail: 'auto', image_url: `data:${asString(mimeType)};base64,${data}` };
}

function outputOf(content: string | readonly JsonObject[]): string | readonly JsonObject[] {
  if (typeof content === 'string') return content;
  if (!content.every(({ type, text }) => type === 'text' && typeof text === 'string'))
    return content.map(inputPart);
  return content.map(({ text }) => text).join('\n');
}

function parseObject(text: unknown): JsonObject | undefined {
  if (typeof text !== 'string' || !text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Names calls so that every provider takes the names. */
interface CallIds {
  /** The name of the call that the file knows by this id: the id itself where it is legal, and always the same one. */
  nameOf(id: string): string;
}

/** As long as the strictest provider allows. */
const LONGEST = 64;

/**
 * Legal names for the ids in a file. The Responses API gives a call two ids, which pi writes as `call_1|fc_1`; other
 * servers use dots and colons, or hundreds of characters. Two ids never get one name.
 */
function createCallIds(): CallIds {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  return {
    nameOf(id) {
      const known = names.get(id);
      if (known !== undefined) return known;
      const wanted = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST) || 'call';
      let name = wanted;
      for (let count = 2; taken.has(name); count++) {
        const suffix = `_${count}`;
        name = wanted.slice(0, LONGEST - suffix.length) + suffix;
      }
      names.set(id, name);
      taken.add(name);
      return name;
    },
  };
}
