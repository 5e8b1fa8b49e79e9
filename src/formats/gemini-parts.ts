import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, MediaBlock, ToolResultBlock } from '../conversation/message.ts';
import { toJson } from './result-content.ts';

/** The view of one part. What holds none of the known fields becomes `other`. */
export function readGeminiPart(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
  const text = raw['text'];
  if (typeof text === 'string') {
    return raw['thought'] === true
      ? { type: 'reasoning', text, sealed: undefined, raw }
      : { type: 'text', text, raw };
  }
  const call = raw['functionCall'] ?? raw['function_call'];
  if (isObject(call)) {
    const name = asString(call['name']) ?? '';
    return { type: 'tool-call', id: asString(call['id']), name, input: call['args'], runBy: 'client', raw };
  }
  const response = raw['functionResponse'] ?? raw['function_response'];
  if (isObject(response)) return readResponse(response, raw);
  return readMedia(raw) ?? { type: 'other', wireType: Object.keys(raw)[0], raw };
}

/** The result with other content: text in the body, everything else as parts. Undefined for what is no result. */
export function withResponse(result: JsonObject, content: readonly Block[]): ToolResultBlock | undefined {
  const key = isObject(result['functionResponse']) ? 'functionResponse' : 'function_response';
  const before = result[key];
  if (!isObject(before)) return undefined;
  const { parts: _parts, response: body, ...rest } = before;
  const isBody = (block: Block) => block.type === 'text' || block.raw === body;
  const parts = content.filter((block) => !isBody(block)).map(({ raw }) => raw);
  const response = {
    ...rest,
    response: writeBody(body, content.filter(isBody)),
    ...(parts.length > 0 ? { parts } : {}),
  };
  return readResponse(response, { ...result, [key]: response });
}

/** `{output}`, or `{error}` where there was one. A body of data stays what it is unless text joins it. */
function writeBody(before: unknown, content: readonly Block[]): unknown {
  if (content.length === 1 && content[0]?.raw === before) return before;
  const texts = content.map((block) => (block.type === 'text' ? block.text : (toJson(block.raw) ?? '')));
  return { [isErrorBody(before) ? 'error' : 'output']: texts.join('\n') };
}

function isErrorBody(body: unknown): boolean {
  return isObject(body) && body['error'] !== undefined;
}

function readResponse(response: JsonObject, raw: JsonObject): ToolResultBlock {
  const body = response['response'];
  return {
    type: 'tool-result',
    callId: asString(response['id']),
    name: asString(response['name']),
    content: [...readResponseBody(body), ...asList(response['parts']).map(readInnerPart)],
    isError: isErrorBody(body),
    runBy: 'client',
    raw,
  };
}

/** `{output: "…"}` and `{error: "…"}` are text by convention; every other body is data. */
function readResponseBody(body: unknown): readonly Block[] {
  if (body === undefined || body === null) return [];
  const keys = isObject(body) ? Object.keys(body) : [];
  const only = isObject(body) && keys.length === 1 ? (body['output'] ?? body['error']) : body;
  if (typeof only === 'string') return [{ type: 'text', text: only, raw: only }];
  return [{ type: 'other', wireType: undefined, raw: body }];
}

function readInnerPart(raw: unknown): Block {
  return (isObject(raw) ? readMedia(raw) : undefined) ?? { type: 'other', wireType: undefined, raw };
}

const MEDIA_BY_MIME: ReadonlyMap<string, MediaBlock['media']> = new Map([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
]);

function readMedia(raw: JsonObject): MediaBlock | undefined {
  const inline = raw['inlineData'] ?? raw['inline_data'];
  const source = inline ?? raw['fileData'] ?? raw['file_data'];
  if (!isObject(source)) return undefined;
  const mime = asString(source['mimeType']) ?? asString(source['mime_type']) ?? '';
  const media = MEDIA_BY_MIME.get(mime.slice(0, mime.indexOf('/'))) ?? 'document';
  const detail = isObject(raw['mediaResolution']) ? asString(raw['mediaResolution']['level']) : undefined;
  return { type: 'media', media, data: asString(source['data']), text: undefined, detail, raw };
}
