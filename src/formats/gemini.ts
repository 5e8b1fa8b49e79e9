import type { Conversation, Format, Recognition } from '../conversation/format.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, Message, ToolResultBlock } from '../conversation/message.ts';
import { findList, replaceUnderKey } from './frame.ts';
import { readGeminiPart, withResponse } from './gemini-parts.ts';
import { readResponseId } from './response-id.ts';
import { rewriteResult } from './result-content.ts';
import { rememberViews } from './view-memory.ts';

/** `POST /v1beta/models/{model}:generateContent`. */
export const gemini: Format = {
  name: 'gemini',
  summary: 'Gemini generateContent: contents of parts; calls and responses pair by order and name',
  tools: { resultsStand: 'next-message', callIdsUniqueAmong: 'open-calls' },
  userFirst: true,
  alternates: false,
  systemStands: 'anywhere',
  refusesBlankText: false,
  reasoningStandsAlone: true,

  recognise,
  read,
  readMessage: (raw) => views.readMessage(raw),
  replaceList: (frame, list) => replaceUnderKey(frame.body, 'contents', list),

  textBlock: (text) => ({ type: 'text', text, raw: { text } }),
  failedResult(call, text) {
    const id = call.id === undefined ? {} : { id: call.id };
    const raw = { functionResponse: { ...id, name: call.name, response: { error: text } } };
    return readGeminiPart(raw) as ToolResultBlock; // a `functionResponse` always reads as one
  },
  withResultContent: (result, content) => rewriteResult(result, content, (raw) => withResponse(raw, content)),
  userMessages: (blocks) => [gemini.readMessage({ role: 'user', parts: blocks.map((block) => block.raw) })],
  withBlocks(message, blocks) {
    const raw = isObject(message.raw)
      ? message.raw
      : { role: message.role === 'assistant' ? 'model' : 'user' };
    return gemini.readMessage({ ...raw, parts: blocks.map((block) => block.raw) });
  },
};

const views = rememberViews(readMessage);

function read(body: unknown): Conversation {
  const list = findList(body, 'contents', 'Gemini');
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
      tools: declarations.map((raw) => ({
        name: (isObject(raw) && asString(raw['name'])) || 'unnamed',
        raw,
      })),
      continues: frame['cachedContent'] === undefined ? undefined : 'cachedContent',
      managedBy: undefined,
    },
    messages: views.readList(list),
  };
}

function readInstruction(instruction: unknown): readonly Block[] {
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction, raw: instruction }];
  return isObject(instruction) ? asList(instruction['parts']).map(readGeminiPart) : [];
}

function readMessage(raw: unknown): Message {
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
  return value.every(isContent) ? 'certain' : 'no';
}

/** Parts of Gemini's have no type: one that has belongs to somebody else. */
function isContent(content: unknown): boolean {
  if (!isObject(content) || !Array.isArray(content['parts'])) return false;
  return content['parts'].every((part) => !isObject(part) || typeof part['type'] !== 'string');
}
