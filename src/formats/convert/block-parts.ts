import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import {
  type Block,
  callArguments,
  type MediaBlock,
  type Role,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
} from '../../conversation/message.ts';
import type { ChangeLog } from '../change-log.ts';
import { toJson } from '../content.ts';
import { type LegalNameMap, LegalNames } from '../legal-names.ts';
import type { CallPart, MediaPart, Part, ResultPart, Target, TextPart } from './turns.ts';

export interface BlockReaderOptions {
  readonly target: Target;
  readonly names: LegalNameMap;
  readonly changes: ChangeLog;
  /** Results that stand behind their calls already. */
  readonly paired: ReadonlySet<unknown>;
}

/** Turns blocks of any format into parts that the target can take. */
export interface BlockReader {
  call(block: ToolCallBlock): CallPart;
  /** The result of a call, and what of it has to stand in a message of its own. */
  result(block: ToolResultBlock, call: CallPart): { result: ResultPart; moved: readonly Part[] };
  /** Everything else. */
  parts(block: Block, role: Role): readonly Part[];
}

/** Whether the client was asked to run this. */
export function isClientCall(block: Block): block is ToolCallBlock {
  return block.type === 'tool-call' && block.runBy === 'client';
}

/** Whether the client ran what this is the result of. */
export function isClientResult(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result' && block.runBy === 'client';
}

const NOTED = 'replaced by a note';
const AS_TEXT = 'turned into text';

/** Makes a reader for one conversation: ids are unique within it. */
export function createBlockReader(options: BlockReaderOptions): BlockReader {
  const { target, changes } = options;
  const ids = new LegalNames(target.maxIdLength, 'call');
  return {
    call: (block) => readCall(block, ids, options),
    result: (block, { id, name }) => {
      const read = block.content.map((inner) => readInner(inner, name, options));
      const content = read.flatMap(({ part }) => part);
      const result: ResultPart = { type: 'result', id, name, isError: block.isError, content };
      return { result, moved: read.flatMap(({ moved }) => moved) };
    },
    parts(block, role) {
      switch (block.type) {
        case 'text':
          return block.text.trim() === '' ? [] : [text(block.text)];
        case 'media':
          return [readMedia(block, role, options)];
        case 'reasoning':
          changes.add('reasoning block', 'left out');
          return [];
        case 'tool-call':
          changes.add("call of a provider's own tool", AS_TEXT);
          return [text(`[the provider ran ${block.name}: ${toJson(block.input) ?? ''}]`)];
        case 'tool-result':
          return readLooseResult(block, options);
        case 'compaction':
          // The text of the newest one stands in front of everything already.
          if (block.text === '') changes.add("provider's own summary", NOTED);
          return block.text === '' ? [text('[a summary that only its provider can read]')] : [];
        case 'other':
          changes.add(`${block.wireType ?? 'unknown'} block`, NOTED);
          return [text(`[left out: ${block.wireType ?? 'something unknown'}]`)];
      }
    },
  };
}

function text(words: string): TextPart {
  return { type: 'text', text: words };
}

function readCall(block: ToolCallBlock, ids: LegalNames, { names, changes }: BlockReaderOptions): CallPart {
  const id = ids.take(block.id);
  const name = names.get(block.name);
  if (block.id !== undefined && id !== block.id) changes.add('call id', 'made legal');
  if (name !== block.name) changes.add('tool name', 'made legal');
  const parsed = callArguments(block);
  if (parsed !== undefined) {
    const inputText = typeof block.input === 'string' ? block.input : (toJson(parsed) ?? '{}');
    return { type: 'call', id, name, input: parsed, inputText };
  }
  const isEmpty = block.input === undefined || block.input === null || block.input === '';
  if (!isEmpty) changes.add('call without a JSON object as arguments', 'wrapped as {"input": …}');
  const input = isEmpty ? {} : { input: block.input };
  return { type: 'call', id, name, input, inputText: toJson(input) ?? '{}' };
}

interface ReadInner {
  readonly part: readonly (TextPart | MediaPart)[];
  readonly moved: readonly Part[];
}

/** A block inside of a result. Data of any other kind is shown to the model as JSON. */
function readInner(block: Block, tool: string, { target, changes }: BlockReaderOptions): ReadInner {
  if (block.type !== 'media') {
    const words = block.type === 'other' ? (toJson(block.raw) ?? '') : textOf(block);
    return { part: words.trim() === '' ? [] : [text(words)], moved: [] };
  }
  if (block.text !== undefined) return { part: [text(block.text)], moved: [] };
  const media = mediaPartOf(block);
  if (media !== undefined && target.takesMedia(media, 'result')) return { part: [media], moved: [] };
  if (media === undefined || !target.takesMedia(media, 'user')) {
    changes.add(block.media, NOTED);
    return { part: [text(`[${block.media} left out]`)], moved: [] };
  }
  changes.add(`${block.media} in a tool result`, 'moved behind it');
  return {
    part: [text(`[${block.media}: see the message behind the results]`)],
    moved: [text(`[${block.media} from the result of ${tool}]`), media],
  };
}

function readMedia(block: MediaBlock, role: Role, { target, changes }: BlockReaderOptions): Part {
  if (block.text !== undefined && block.text.trim() !== '') return text(block.text);
  const media = mediaPartOf(block);
  if (role === 'user' && media !== undefined && target.takesMedia(media, 'user')) return media;
  changes.add(block.media, NOTED);
  return text(`[${block.media} left out]`);
}

/** What a provider's own tool found, and results whose call is not there. */
function readLooseResult(block: ToolResultBlock, { changes, paired }: BlockReaderOptions): readonly Part[] {
  if (isClientResult(block) && paired.has(block)) return [];
  const what = isClientResult(block) ? 'tool result without a call' : "result of a provider's own tool";
  changes.add(what, AS_TEXT);
  const words = block.content.map((inner) => textOf(inner) || (toJson(inner.raw) ?? ''));
  return [text(['[result of an earlier tool call]', ...words].join('\n'))];
}

/** What can be carried over of a media block, from whatever format; undefined where only its provider has the bytes. */
export function mediaPartOf({ media, data, raw }: MediaBlock): MediaPart | undefined {
  const fields = fieldsOf(raw);
  if (data !== undefined && data !== '') {
    const mimeType = statedType(fields) ?? guessType(data);
    return mimeType === undefined ? undefined : { type: 'media', media, mimeType, data };
  }
  const url = addressesIn(fields).find((address) => /^https?:\/\//i.test(address.slice(0, 10)));
  return url === undefined ? undefined : { type: 'media', media, url };
}

/** A `data:` URL for formats that have no other place for bytes. */
export function urlOf(part: MediaPart): string {
  return part.url ?? `data:${part.mimeType};base64,${part.data}`;
}

/** Keys under which formats keep the facts of a file, one level down. */
const HOLDERS = ['source', 'image_url', 'input_audio', 'file', 'inlineData', 'inline_data'];

/** The block's own fields and those of what it holds them in. */
function fieldsOf(raw: unknown): readonly JsonObject[] {
  if (!isObject(raw)) return [];
  return [raw, ...HOLDERS.map((key) => raw[key]).filter(isObject)];
}

// Addresses of Gemini's own store (`fileUri`) are public to nobody else.
const ADDRESS_KEYS = ['url', 'image_url', 'file_url', 'file_data', 'image', 'data'];
const TYPE_KEYS = ['media_type', 'mimeType', 'mime_type', 'mediaType'];

function addressesIn(fields: readonly JsonObject[]): readonly string[] {
  return fields.flatMap((holder) => ADDRESS_KEYS.flatMap((key) => asString(holder[key]) ?? []));
}

function statedType(fields: readonly JsonObject[]): string | undefined {
  const types = fields.flatMap((holder) => TYPE_KEYS.flatMap((key) => asString(holder[key]) ?? []));
  const stated = types.find((type) => type.includes('/'));
  if (stated !== undefined) return stated;
  const inUrl = addressesIn(fields)
    .map((address) => /^data:([a-z]+\/[\w.+-]{1,80})/i.exec(address.slice(0, 120))?.[1])
    .find((type) => type !== undefined);
  return inUrl ?? fields.flatMap((holder) => AUDIO_TYPES.get(asString(holder['format']) ?? '') ?? [])[0];
}

const AUDIO_TYPES: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mpeg'],
]);

/** First characters of files in base64. */
const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];

function guessType(data: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => data.startsWith(beginning))?.[1];
}
