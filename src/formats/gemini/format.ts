import type { Conversation, Format, Recognition } from '../../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Block, MediaBlock, Message, ToolResultBlock } from '../../conversation/message.ts';
import {
  callBlock,
  mediaBlock,
  mediaOfType,
  otherBlock,
  resultBlock,
  rewriteResult,
  toJson,
} from '../content.ts';
import { findList, readResponseId, readTools, replaceUnderKey } from '../frame.ts';
import { rememberViews } from '../view-memory.ts';

const readMessage = rememberViews(readView);

/** `POST /v1beta/models/{model}:generateContent`. */
export const gemini: Format = {
  name: 'gemini',
  summary: 'Gemini generateContent: contents of parts; calls and responses pair by order and name',
  listKey: 'contents',
  tools: { resultsStand: 'next-message', callIdsUniqueAmong: 'open-calls' },
  userFirst: true,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage,
  replaceList: (frame, list) => replaceUnderKey(frame.body, gemini.listKey, list),

  textBlock: (text) => ({ type: 'text', text, raw: { text } }),
  failedResult(call, text) {
    const id = call.id === undefined ? {} : { id: call.id };
    const raw = { functionResponse: { ...id, name: call.name, response: { error: text } } };
    return readGeminiPart(raw) as ToolResultBlock; // a `functionResponse` always reads as one
  },
  withResultContent: (result, content) => rewriteResult(result, content, (raw) => withResponse(raw, content)),
  userMessages: (blocks) => [readMessage({ role: 'user', parts: blocks.map((block) => block.raw) })],
  withBlocks(message, blocks) {
    const raw = isObject(message.raw)
      ? message.raw
      : { role: message.role === 'assistant' ? 'model' : 'user' };
    return readMessage({ ...raw, parts: blocks.map((block) => block.raw) });
  },
};

function read(body: unknown): Conversation {
  const list = findList(body, gemini.listKey, 'Gemini');
  const frame = isObject(body) ? body : {};
  const declarations = asList(frame['tools']).flatMap((tool) =>
    isObject(tool) ? asList(tool['functionDeclarations'] ?? tool['function_declarations']) : [],
  );
  return {
    format: gemini,
    frame: {
      body,
      list,
      model: asString(frame['model']),
      system: readInstruction(frame['systemInstruction'] ?? frame['system_instruction']),
      tools: readTools(declarations, (tool) => (isObject(tool) && tool['name']) || undefined),
      continues: frame['cachedContent'] === undefined ? undefined : 'cachedContent',
      managedBy: undefined,
    },
    messages: list.map(readMessage),
  };
}

function readInstruction(instruction: unknown): readonly Block[] {
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction, raw: instruction }];
  return isObject(instruction) ? asList(instruction['parts']).map(readGeminiPart) : [];
}

function readView(raw: unknown): Message {
  const content: JsonObject = isObject(raw) ? raw : {};
  const role = content['role'] === 'model' ? 'assistant' : 'user';
  return {
    role,
    blocks: asList(content['parts']).map(readGeminiPart),
    // A content has no id of its own; the response around it has this one, and whoever stores contents may keep it there.
    responseId: role === 'assistant' ? readResponseId(content['responseId']) : undefined,
    usage: undefined,
    raw,
  };
}

function recognise(value: unknown): Recognition {
  if (isObject(value)) return Array.isArray(value['contents']) ? 'certain' : 'no';
  if (!Array.isArray(value) || value.length === 0) return 'no';
  if (!value.every(isContent)) return 'no';
  return value.every((content) => typeof content['role'] === 'string' || hasKnownParts(content))
    ? 'certain'
    : 'possible';
}

/** Parts of Gemini's have no type: one that has belongs to somebody else. */
function isContent(content: unknown): content is JsonObject {
  if (!isObject(content) || !Array.isArray(content['parts'])) return false;
  return content['parts'].every((part) => !isObject(part) || typeof part['type'] !== 'string');
}

/** Without a role, the parts must tell: other files have lists called `parts` too. */
function hasKnownParts({ parts }: JsonObject): boolean {
  const list = asList(parts);
  return list.length > 0 && list.every((part) => isObject(part) && readGeminiPart(part).type !== 'other');
}

/** The view of one part. What holds none of the known fields becomes `other`. */
export function readGeminiPart(raw: unknown): Block {
  if (typeof raw === 'string') return { type: 'text', text: raw, raw };
  if (!isObject(raw)) return otherBlock(raw);
  const text = raw['text'];
  if (typeof text === 'string') {
    return raw['thought'] === true
      ? { type: 'reasoning', text, sealed: undefined, raw }
      : { type: 'text', text, raw };
  }
  const call = raw['functionCall'] ?? raw['function_call'];
  if (isObject(call)) {
    return callBlock(raw, { id: call['id'], name: call['name'], input: call['args'] });
  }
  const response = raw['functionResponse'] ?? raw['function_response'];
  if (isObject(response)) return readResponse(response, raw);
  return readMedia(raw) ?? otherBlock(raw, Object.keys(raw)[0]);
}

/** The result with other content: text in the body, everything else as parts. Undefined for what is no result. */
function withResponse(result: JsonObject, content: readonly Block[]): ToolResultBlock | undefined {
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
  const content = [...readResponseBody(body), ...asList(response['parts']).map(readInnerPart)];
  const { id: callId, name } = response;
  return resultBlock(raw, { callId, name, content, isError: isErrorBody(body) });
}

/** `{output: "…"}` and `{error: "…"}` are text by convention; every other body is data. */
function readResponseBody(body: unknown): readonly Block[] {
  if (body === undefined || body === null) return [];
  const keys = isObject(body) ? Object.keys(body) : [];
  const only = isObject(body) && keys.length === 1 ? (body['output'] ?? body['error']) : body;
  if (typeof only === 'string') return [{ type: 'text', text: only, raw: only }];
  return [otherBlock(body)];
}

function readInnerPart(raw: unknown): Block {
  return (isObject(raw) ? readMedia(raw) : undefined) ?? otherBlock(raw);
}

function readMedia(raw: JsonObject): MediaBlock | undefined {
  const inline = raw['inlineData'] ?? raw['inline_data'];
  const source = inline ?? raw['fileData'] ?? raw['file_data'];
  if (!isObject(source)) return undefined;
  const mime = asString(source['mimeType']) ?? asString(source['mime_type']) ?? '';
  const detail = isObject(raw['mediaResolution']) ? asString(raw['mediaResolution']['level']) : undefined;
  return mediaBlock(mediaOfType(mime), raw, { data: asString(source['data']), detail });
}
