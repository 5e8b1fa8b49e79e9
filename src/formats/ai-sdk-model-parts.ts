import { asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, ToolCallBlock, ToolResultBlock } from '../conversation/message.ts';
import { mediaOfType, readFile } from './ai-sdk-media.ts';
import { readToolOutput } from './ai-sdk-output.ts';
import {
  readCustomPart,
  readReasoningFile,
  readReasoningPart,
  readTextPart,
  sealOnce,
} from './ai-sdk-parts.ts';

/** Content of a model message: a string or a list of parts. Results in the assistant's own message are a server's. */
export function readModelContent(content: unknown, isAssistant: boolean): readonly Block[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, raw: content }];
  if (!Array.isArray(content)) return [];
  const runBy = isAssistant ? 'server' : 'client';
  return sealOnce(content.map((part) => readModelPart(part, runBy)));
}

/** The view of one part. Parts of unknown type, and known ones with a broken shape, become `other`. */
export function readModelPart(raw: unknown, resultRunBy: ToolResultBlock['runBy']): Block {
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
  const type = asString(raw['type']);
  if (type === 'tool-result') return readResult(raw, resultRunBy);
  const reader = type === undefined ? undefined : readers.get(type);
  return reader?.(raw) ?? { type: 'other', wireType: type, raw };
}

/** Blocks as a list of parts. Text that was plain string content becomes a text part. */
export function toModelParts(blocks: readonly Block[]): readonly unknown[] {
  return blocks.map((block) =>
    typeof block.raw === 'string' ? { type: 'text', text: block.raw } : block.raw,
  );
}

const readers = new Map<string, (raw: JsonObject) => Block | undefined>([
  ['text', (raw) => readTextPart(raw, raw['providerOptions'])],
  ['reasoning', (raw) => readReasoningPart(raw, raw['providerOptions'])],
  ['reasoning-file', readReasoningFile],
  ['image', (raw) => readFile(raw, raw['image'], 'image')],
  ['file', (raw) => readFile(raw, raw['data'], mediaOfType(asString(raw['mediaType']) ?? ''))],
  ['tool-call', readCall],
  ['custom', readCustomPart],
]);

function readCall(raw: JsonObject): ToolCallBlock {
  return {
    type: 'tool-call',
    id: asString(raw['toolCallId']),
    name: asString(raw['toolName']) ?? '',
    input: raw['input'],
    runBy: raw['providerExecuted'] === true ? 'server' : 'client',
    raw,
  };
}

function readResult(raw: JsonObject, runBy: ToolResultBlock['runBy']): ToolResultBlock {
  return {
    type: 'tool-result',
    callId: asString(raw['toolCallId']),
    name: asString(raw['toolName']),
    ...readToolOutput(raw['output']),
    runBy,
    raw,
  };
}
