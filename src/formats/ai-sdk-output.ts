import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, MediaBlock, ToolResultBlock } from '../conversation/message.ts';
import { mediaOfType, readFile } from './ai-sdk-media.ts';
import { asOneText, joinTexts, toJson } from './result-content.ts';

/** What a tool result of the AI SDK says. */
export type ToolOutput = Pick<ToolResultBlock, 'content' | 'isError'>;

/** What the AI SDK's providers tell the model about a denied call that has no reason of its own. */
const DENIED_TEXT = 'Tool call execution denied.';

/** Reads the `output` of a tool-result part: `{type: 'text' | 'json' | 'content' | …, value}`. */
export function readToolOutput(output: unknown): ToolOutput {
  const type = isObject(output) ? asString(output['type']) : undefined;
  const read = type === undefined ? undefined : outputReaders.get(type);
  if (!isObject(output) || read === undefined) {
    return { content: [{ type: 'other', wireType: type, raw: output }], isError: false };
  }
  return read(output);
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
  if (text === undefined) return [{ type: 'other', wireType: undefined, raw: value }];
  return text === '' ? [] : [{ type: 'text', text, raw: value }];
}

/** What the model is told about a call that was not allowed. */
export function readDenial(reason: unknown, raw: unknown): ToolOutput {
  return { content: [{ type: 'text', text: asString(reason) ?? DENIED_TEXT, raw }], isError: true };
}

const outputReaders = new Map<string, (output: JsonObject) => ToolOutput>([
  ['text', (output) => ({ content: readOutputValue(output['value']), isError: false })],
  ['json', (output) => ({ content: readOutputValue(output['value']), isError: false })],
  ['error-text', (output) => ({ content: readOutputValue(output['value']), isError: true })],
  ['error-json', (output) => ({ content: readOutputValue(output['value']), isError: true })],
  ['execution-denied', (output) => readDenial(output['reason'], output)],
  ['content', (output) => ({ content: asList(output['value']).map(readContentPart), isError: false })],
]);

interface FileShape {
  /** Key of the file's data, link or reference. */
  readonly source: string;
  /** Default: what the part's own media type says. */
  readonly media?: MediaBlock['media'];
}

// `file` is the current shape; the others are deprecated and still accepted.
const fileShapes: ReadonlyMap<string, FileShape> = new Map([
  ['file', { source: 'data' }],
  ['media', { source: 'data' }],
  ['file-data', { source: 'data' }],
  ['file-url', { source: 'url' }],
  ['file-id', { source: 'fileId' }],
  ['file-reference', { source: 'providerReference' }],
  ['image-data', { source: 'data', media: 'image' }],
  ['image-url', { source: 'url', media: 'image' }],
  ['image-file-id', { source: 'fileId', media: 'image' }],
  ['image-file-reference', { source: 'providerReference', media: 'image' }],
]);

function readContentPart(raw: unknown): Block {
  const type = isObject(raw) ? asString(raw['type']) : undefined;
  if (!isObject(raw) || type === undefined) return { type: 'other', wireType: type, raw };
  const text = raw['text'];
  if (type === 'text' && typeof text === 'string') return { type: 'text', text, raw };
  const shape = fileShapes.get(type);
  if (shape === undefined) return { type: 'other', wireType: type, raw };
  return readFile(raw, raw[shape.source], shape.media ?? mediaOfType(asString(raw['mediaType']) ?? ''));
}
