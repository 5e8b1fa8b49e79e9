import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, ToolCallBlock, ToolResultBlock } from '../conversation/message.ts';
import { mediaOfType, readFile } from './ai-sdk-media.ts';
import { readDenial, readOutputValue, type ToolOutput } from './ai-sdk-output.ts';
import { readCustomPart, readReasoningFile, readReasoningPart, readTextPart } from './ai-sdk-parts.ts';

/**
 * The views of one part: none for what is only shown to people (sources, data), two for a tool that has answered (its
 * call and its result, both with the part as their raw value), one for everything else.
 */
export function readUiPart(raw: unknown): readonly Block[] {
  if (!isObject(raw)) return [{ type: 'other', wireType: undefined, raw }];
  const type = asString(raw['type']) ?? '';
  if (isOnlyShown(type)) return [];
  if (isToolPart(type, raw)) return readToolPart(type, raw);
  const block = readers.get(type)?.(raw);
  return [block ?? { type: 'other', wireType: asString(raw['type']), raw }];
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
export function withToolOutput(part: JsonObject, text: string): JsonObject | undefined {
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
  const id = asString(raw['toolCallId']);
  const input = raw['input'] ?? raw['rawInput'];
  const call: ToolCallBlock = { type: 'tool-call', id, name, input, runBy: 'server', raw };
  const output = outputOfState.get(asString(raw['state']) ?? '')?.(raw);
  if (output === undefined) return [call];
  const result: ToolResultBlock = { type: 'tool-result', callId: id, name, ...output, runBy: 'server', raw };
  return [call, result];
}

/** States in which a tool part holds its result. In all others (input, approval) the call is not answered yet. */
const outputOfState = new Map<string, (raw: JsonObject) => ToolOutput | undefined>([
  ['output-available', (raw) => ({ content: readOutputValue(raw['output']), isError: false })],
  ['output-error', (raw) => ({ content: readOutputValue(raw['errorText']), isError: true })],
  ['output-denied', (raw) => readDenial(approvalOf(raw)['reason'], raw)],
  // A denial is the answer already; an approved tool is yet to run.
  [
    'approval-responded',
    (raw) => (approvalOf(raw)['approved'] === false ? readDenial(approvalOf(raw)['reason'], raw) : undefined),
  ],
]);

function approvalOf(raw: JsonObject): JsonObject {
  return isObject(raw['approval']) ? raw['approval'] : {};
}
