/** Parts that model and UI messages of the AI SDK share: text, reasoning, files, tool outputs. */

import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, MediaBlock, ReasoningBlock, ToolResultBlock } from '../../conversation/message.ts';
import { asOneText, dataOfUrl, joinTexts, mediaBlock, mediaOfType, otherBlock, toJson } from '../content.ts';

/** Names under which providers keep content that only they can read. */
const SEALS = ['redactedData', 'reasoningEncryptedContent'];
const SIGNATURES = ['signature', 'thoughtSignature'];

/**
 * The view of a text part. Anthropic's own summary is a text part marked as such.
 * @param options what providers attached: `providerOptions` of a model message, `providerMetadata` of a UI message
 */
export function readTextPart(raw: JsonObject, options: unknown): Block | undefined {
  const text = raw['text'];
  if (typeof text !== 'string') return undefined;
  const isCompaction = optionsPerProvider(options).some((own) => own['type'] === 'compaction');
  return { type: isCompaction ? 'compaction' : 'text', text, raw };
}

/** The view of a reasoning part. Without readable text its signature is what goes back to the model. */
export function readReasoningPart(raw: JsonObject, options: unknown): ReasoningBlock {
  const text = asString(raw['text']) ?? '';
  const sealed = findOption(options, SEALS) ?? (text === '' ? findOption(options, SIGNATURES) : undefined);
  return { type: 'reasoning', text, sealed, raw };
}

/** A file the model made while reasoning: kept or removed like the reasoning it belongs to, and not counted. */
export function readReasoningFile(raw: JsonObject): ReasoningBlock {
  return { type: 'reasoning', text: '', sealed: undefined, raw };
}

/** Content that only its provider understands, such as OpenAI's own summary (`openai.compaction`). */
export function readCustomPart(raw: JsonObject): Block {
  const isCompaction = asString(raw['kind'])?.endsWith('.compaction') === true;
  return isCompaction ? { type: 'compaction', text: '', raw } : otherBlock(raw, 'custom');
}

/** Every summary part of one reasoning item repeats the item's encrypted content; the model gets it once. */
export function sealOnce(blocks: readonly Block[]): readonly Block[] {
  const seen = new Set<string>();
  return blocks.map((block) => {
    if (block.type !== 'reasoning' || block.sealed === undefined) return block;
    if (seen.has(block.sealed)) return { ...block, sealed: undefined };
    seen.add(block.sealed);
    return block;
  });
}

function findOption(options: unknown, names: readonly string[]): string | undefined {
  for (const own of optionsPerProvider(options)) {
    for (const name of names) {
      const value = asString(own[name]);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

function optionsPerProvider(options: unknown): readonly JsonObject[] {
  return isObject(options) ? Object.values(options).filter(isObject) : [];
}

/** What a tool result of the AI SDK says. */
export type ToolOutput = Pick<ToolResultBlock, 'content' | 'isError'>;

/** What the AI SDK's providers tell the model about a denied call that has no reason of its own. */
const DENIED_TEXT = 'Tool call execution denied.';

/** Reads the `output` of a tool-result part: `{type: 'text' | 'json' | 'content' | …, value}`. */
export function readToolOutput(output: unknown): ToolOutput {
  const { type, value, reason }: JsonObject = isObject(output) ? output : {};
  switch (type) {
    case 'text':
    case 'json':
      return { content: readOutputValue(value), isError: false };
    case 'error-text':
    case 'error-json':
      return { content: readOutputValue(value), isError: true };
    case 'execution-denied':
      return readDenial(reason, output);
    case 'content':
      return { content: asList(value).map(readContentPart), isError: false };
    default:
      return { content: [otherBlock(output, asString(type))], isError: false };
  }
}

/** The `output` of a tool-result part with other content: text where it is nothing else, and for every error. */
export function writeToolOutput(before: unknown, content: readonly Block[], isError: boolean): JsonObject {
  const options = isObject(before) ? before['providerOptions'] : undefined;
  const kept = options === undefined ? {} : { providerOptions: options };
  if (isError) return { type: 'error-text', value: joinTexts(content), ...kept };
  const text = asOneText(content);
  if (text !== undefined) return { type: 'text', value: text, ...kept };
  return { type: 'content', value: content.map(toContentPart), ...kept };
}

/** Text that was no part before, a string or a JSON value, becomes one. */
function toContentPart(block: Block): unknown {
  if (block.type !== 'text') return block.raw;
  const isPart = isObject(block.raw) && block.raw['type'] === 'text' && block.raw['text'] === block.text;
  return isPart ? block.raw : { type: 'text', text: block.text };
}

/** Reads what a tool returned: text as it is, everything else as the JSON that the model gets to read. */
export function readOutputValue(value: unknown): readonly Block[] {
  const text = typeof value === 'string' ? value : toJson(value);
  if (text === undefined) return [otherBlock(value)];
  return text === '' ? [] : [{ type: 'text', text, raw: value }];
}

/** What the model is told about a call that was not allowed. */
export function readDenial(reason: unknown, raw: unknown): ToolOutput {
  return { content: [{ type: 'text', text: asString(reason) ?? DENIED_TEXT, raw }], isError: true };
}

/** For each kind of file where its data, link or reference is. `file` is the current one; the others are deprecated. */
const FILE_SOURCES: ReadonlyMap<string, string> = new Map([
  ['file', 'data'],
  ['media', 'data'],
  ['file-data', 'data'],
  ['file-url', 'url'],
  ['file-id', 'fileId'],
  ['file-reference', 'providerReference'],
  ['image-data', 'data'],
  ['image-url', 'url'],
  ['image-file-id', 'fileId'],
  ['image-file-reference', 'providerReference'],
]);

function readContentPart(raw: unknown): Block {
  const type = isObject(raw) ? asString(raw['type']) : undefined;
  if (!isObject(raw) || type === undefined) return otherBlock(raw, type);
  const text = raw['text'];
  if (type === 'text' && typeof text === 'string') return { type: 'text', text, raw };
  const source = FILE_SOURCES.get(type);
  if (source === undefined) return otherBlock(raw, type);
  const media = type.startsWith('image-') ? 'image' : mediaOfType(asString(raw['mediaType']) ?? '');
  return readFile(raw, raw[source], media);
}

/**
 * The base64 data of a file, where its bytes are at hand: as base64, as a `data:` URL or as an array of bytes.
 * Undefined for links, for references to uploaded files and for everything unknown.
 */
export function base64Of(source: unknown): string | undefined {
  if (typeof source === 'string') return isUrl(source) ? dataOfUrl(source) : source;
  if (source instanceof URL) return dataOfUrl(source.href);
  if (source instanceof Uint8Array) return toBase64(source);
  if (source instanceof ArrayBuffer) return toBase64(new Uint8Array(source));
  return undefined;
}

/**
 * The view of a file part of the AI SDK.
 * @param source the file itself: bare (string, URL, bytes, reference) or tagged `{type: 'data' | 'url' | 'text' | …}`
 */
export function readFile(raw: JsonObject, source: unknown, media: MediaBlock['media']): MediaBlock {
  const tagged = isObject(source) ? source : {};
  const text = tagged['type'] === 'text' ? asString(tagged['text']) : undefined;
  const data = base64Of(tagged['data'] ?? tagged['url'] ?? source);
  return mediaBlock(media, raw, { data, text });
}

/** A colon never occurs in base64; the scheme of a URL is short. */
function isUrl(source: string): boolean {
  return source.slice(0, 32).includes(':');
}

const CHUNK_BYTES = 8192;

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(binary);
}
