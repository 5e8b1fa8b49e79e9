import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Tally } from '../records.ts';

/** A text part, unless it is blank. */
export function readText(part: JsonObject, tally: Tally): readonly JsonObject[] {
  const text = asString(part['text']) ?? '';
  if (text.trim() === '') {
    tally.add('{n} blank text part{s} left out');
    return [];
  }
  if (part['synthetic'] === true)
    tally.add('{n} synthetic text part{s} kept: written by OpenCode, not by the user');
  return [{ type: 'text', text }];
}

/** Files that OpenCode has already put into text parts beside them. */
const INLINED_FILES = new Set(['text/plain', 'application/x-directory']);

/** An attached file that the format has a place for. */
export function readFile(part: JsonObject, tally: Tally): readonly JsonObject[] {
  const mime = asString(part['mime']) ?? '';
  if (INLINED_FILES.has(mime)) return [];
  const type = mime.startsWith('image/') ? 'image' : mime === 'application/pdf' ? 'document' : undefined;
  const source = sourceOf(asString(part['url']) ?? '', mime);
  if (type !== undefined && source !== undefined) return [{ type, source }];
  tally.add('{n} attached file{s} that the format or the record has no room for left out');
  return [];
}

function sourceOf(url: string, mime: string): JsonObject | undefined {
  if (url.startsWith('https://') || url.startsWith('http://')) return { type: 'url', url };
  // The header of a data URL is short; looking further would scan the payload of one without a comma.
  const comma = url.startsWith('data:') ? url.slice(0, 256).indexOf(',') : -1;
  return comma === -1 ? undefined : { type: 'base64', media_type: mime, data: url.slice(comma + 1) };
}

/** Reasoning that is signed by Anthropic. */
export function readReasoning(part: JsonObject, tally: Tally): readonly JsonObject[] {
  const metadata = isObject(part['metadata']) ? part['metadata']['anthropic'] : undefined;
  const { signature, redactedData }: JsonObject = isObject(metadata) ? metadata : {};
  if (typeof redactedData === 'string') return [{ type: 'redacted_thinking', data: redactedData }];
  if (typeof signature === 'string' && signature !== '') {
    return [{ type: 'thinking', thinking: asString(part['text']) ?? '', signature }];
  }
  tally.add('{n} reasoning part{s} without an Anthropic signature left out');
  return [];
}

/** The result of a call; undefined while there is none, so that the call stays unanswered. */
export function readResult(id: string, state: JsonObject, tally: Tally): JsonObject | undefined {
  const { status, output, error, metadata, time } = state;
  if (status === 'error') {
    const isInterrupted = isObject(metadata) && metadata['interrupted'] === true;
    if (isInterrupted && typeof metadata['output'] === 'string') return toolResult(id, metadata['output']);
    return { ...toolResult(id, asString(error) ?? ''), is_error: true };
  }
  if (status !== 'completed') return undefined;
  if (isObject(time) && time['compacted'] !== undefined) {
    tally.add('{n} tool result{s} that OpenCode had cleared shown in full');
  }
  const text = asString(output) ?? '';
  const files = asList(state['attachments']).flatMap((file) => (isObject(file) ? readFile(file, tally) : []));
  if (files.length === 0) return toolResult(id, text);
  return toolResult(id, text.trim() === '' ? files : [{ type: 'text', text }, ...files]);
}

function toolResult(id: string, content: string | readonly JsonObject[]): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content };
}

/** Parts that carry no content: bookkeeping, and markers whose text stands in parts of its own. */
const SILENT_PARTS = new Set([
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'retry',
  'compaction',
]);

/** Counts a part that is left out, unless it carries no content anyway. */
export function countUnknown(part: JsonObject, tally: Tally): void {
  if (!SILENT_PARTS.has(asString(part['type']) ?? '')) tally.add('{n} part{s} of an unknown type left out');
}
