import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Block, ToolResultBlock } from '../conversation/message.ts';
import { dataOfUrl } from './data-url.ts';
import { mediaBlock } from './media-block.ts';
import { asOneText, joinTexts } from './result-content.ts';

/** Item types whose summary only the provider can read, with the names Codex gives them in its files. */
const COMPACTION_ITEMS = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** The blocks of an item that is no message: a call, an output, reasoning, a compaction, or something unknown. */
export function readItemBlocks(raw: JsonObject): readonly Block[] {
  const type = asString(raw['type']);
  if (type === undefined) return [{ type: 'other', wireType: undefined, raw }];
  if (type === 'reasoning') return [readReasoning(raw)];
  if (COMPACTION_ITEMS.has(type)) return [{ type: 'compaction', text: asString(raw['message']) ?? '', raw }];
  if (type.endsWith('_output') && typeof raw['call_id'] === 'string') return [readOutput(raw)];
  if (type.endsWith('_call') && typeof raw['call_id'] === 'string') return [readCall(raw, type)];
  return [{ type: 'other', wireType: type, raw }];
}

/** The view of one content part of a message item or an output. */
export function readResponsesPart(raw: unknown): Block {
  if (!isObject(raw)) return { type: 'other', wireType: undefined, raw };
  const type = asString(raw['type']);
  const text = type === 'refusal' ? raw['refusal'] : raw['text'];
  if (typeof text === 'string') return { type: 'text', text, raw };
  if (type === 'input_image') {
    return mediaBlock('image', raw, {
      data: dataOfUrl(asString(raw['image_url'])),
      detail: asString(raw['detail']),
    });
  }
  if (type === 'input_file') {
    const data = asString(raw['file_data']);
    return mediaBlock('document', raw, { data: dataOfUrl(data) ?? data });
  }
  if (type === 'input_audio') {
    const audio = isObject(raw['input_audio']) ? raw['input_audio'] : raw;
    return mediaBlock('audio', raw, { data: asString(audio['data']) });
  }
  return { type: 'other', wireType: type, raw };
}

/** Blocks as content parts; text that was plain string content becomes a part of the given kind. */
export function toItemParts(
  blocks: readonly Block[],
  kind: 'input_text' | 'output_text',
): readonly unknown[] {
  return blocks.map((block) => (typeof block.raw === 'string' ? { type: kind, text: block.raw } : block.raw));
}

/** Outputs that are text, and whether a list of parts will do as well. All others have a shape of their own. */
const takesParts: ReadonlyMap<unknown, boolean> = new Map([
  ['function_call_output', true],
  ['custom_tool_call_output', true],
  ['local_shell_call_output', false],
  ['apply_patch_call_output', false],
]);

/** The output item with other content; undefined where its output has a shape that no text fits into. */
export function withOutput(raw: JsonObject, content: readonly Block[]): ToolResultBlock | undefined {
  const mayHoldParts = takesParts.get(raw['type']);
  if (mayHoldParts === undefined) return undefined;
  const text = mayHoldParts ? asOneText(content) : joinTexts(content);
  const { output } = raw;
  if (isPayload(output)) return readOutput({ ...raw, output: { ...output, content: joinTexts(content) } });
  return readOutput({ ...raw, output: text ?? toItemParts(content, 'input_text') });
}

function readReasoning(raw: JsonObject): Block {
  const parts = [...asList(raw['summary']), ...asList(raw['content'])];
  const texts = parts.map((part) => (isObject(part) ? (asString(part['text']) ?? '') : ''));
  return { type: 'reasoning', text: texts.join('\n'), sealed: asString(raw['encrypted_content']), raw };
}

/** `function_call`, `custom_tool_call`, and the shell, patch and computer calls, whose input is their `action`. */
function readCall(raw: JsonObject, type: string): Block {
  const input = raw['arguments'] ?? raw['input'] ?? raw['action'] ?? raw['operation'];
  const name = asString(raw['name']) ?? type.slice(0, -'_call'.length);
  return { type: 'tool-call', id: asString(raw['call_id']), name, input, runBy: 'client', raw };
}

function readOutput(raw: JsonObject): ToolResultBlock {
  const output = raw['output'];
  return {
    type: 'tool-result',
    callId: asString(raw['call_id']),
    name: undefined,
    content: readOutputContent(output),
    isError: isObject(output) && output['success'] === false,
    runBy: 'client',
    raw,
  };
}

function readOutputContent(output: unknown): readonly Block[] {
  if (output === undefined || output === null || output === '') return [];
  if (typeof output === 'string') return [{ type: 'text', text: output, raw: output }];
  if (Array.isArray(output)) return output.map(readResponsesPart);
  if (isPayload(output)) return readOutputContent(output['content']);
  return [readResponsesPart(output)];
}

/** `{content: "…", success}`: how files of Codex keep an output that can fail. */
function isPayload(output: unknown): output is JsonObject {
  return isObject(output) && typeof output['content'] === 'string' && typeof output['success'] === 'boolean';
}
