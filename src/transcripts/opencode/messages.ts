import type { Place } from '../../conversation/errors.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import type { Piece } from '../anthropic-turns.ts';
import { placeInside } from '../place-inside.ts';
import { timestampOf } from '../record-time.ts';
import type { Tally } from '../tally.ts';
import type { Origin } from '../transcript.ts';

/** What reading a message needs besides the message. */
export interface MessageContext {
  readonly place: Place;
  readonly tally: Tally;
  reject(place: Place, reason: string): void;
}

/** The pieces of a user message: one message, or nothing when nothing in it is sent. */
export function readUser(
  info: JsonObject,
  parts: readonly unknown[],
  context: MessageContext,
): readonly Piece[] {
  const content = parts.flatMap((part) => (isObject(part) ? readUserPart(part, context.tally) : []));
  return content.length === 0 ? [] : [{ role: 'user', content, origin: originOf(info, undefined, context) }];
}

/**
 * The pieces of an assistant message. OpenCode may keep several responses in one message, each opened by a
 * `step-start` part, and keeps a call together with its result.
 */
export function readAssistant(
  info: JsonObject,
  parts: readonly unknown[],
  context: MessageContext,
): readonly Piece[] {
  if (isLostTurn(info, parts)) {
    context.tally.add('{n} failed turn{s} left out');
    return [];
  }
  const steps = splitSteps(parts);
  const pieces = steps.flatMap((step, index) => {
    const finish = step.find(({ part }) => part['type'] === 'step-finish');
    const tokens = finish?.part['tokens'] ?? (index === steps.length - 1 ? info['tokens'] : undefined);
    return readStep(step, originOf(info, usageOf(tokens), context), context);
  });
  if (pieces.length === 0) context.tally.add('{n} turn{s} without content left out');
  return pieces;
}

/** All text of a message, for summaries. */
export function textOfParts(parts: readonly unknown[]): string {
  return parts
    .flatMap((part) => (isObject(part) && part['type'] === 'text' ? [asString(part['text']) ?? ''] : []))
    .join('\n');
}

function readUserPart(part: JsonObject, tally: Tally): readonly JsonObject[] {
  switch (part['type']) {
    case 'text':
      return part['ignored'] === true ? [] : readText(part, tally);
    case 'file':
      return readFile(part, tally);
    case 'subtask':
      tally.add('{n} subtask marker{s} left out');
      return [];
    default:
      countUnknown(part, tally);
      return [];
  }
}

function readText(part: JsonObject, tally: Tally): readonly JsonObject[] {
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

function readFile(part: JsonObject, tally: Tally): readonly JsonObject[] {
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

interface PlacedPart {
  readonly part: JsonObject;
  readonly index: number;
}

function splitSteps(parts: readonly unknown[]): readonly (readonly PlacedPart[])[] {
  const steps: PlacedPart[][] = [];
  let current: PlacedPart[] | undefined;
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue;
    if (current === undefined || part['type'] === 'step-start') {
      current = [];
      steps.push(current);
    }
    current.push({ part, index });
  }
  return steps;
}

function readStep(step: readonly PlacedPart[], origin: Origin, context: MessageContext): readonly Piece[] {
  const content: JsonObject[] = [];
  const results: Piece[] = [];
  for (const { part, index } of step) {
    if (part['type'] !== 'tool') {
      content.push(...readAssistantPart(part, context.tally));
      continue;
    }
    const { callID: id, tool: name } = part;
    if (typeof id !== 'string' || typeof name !== 'string') {
      context.reject(
        placeInside(context.place, `parts.${index}`),
        'expected a tool part with `callID` and `tool`',
      );
      continue;
    }
    const state: JsonObject = isObject(part['state']) ? part['state'] : {};
    content.push({ type: 'tool_use', id, name, input: state['input'] ?? {} });
    const block = readResult(id, state, context.tally);
    if (block !== undefined) results.push({ role: 'result', block, origin: { ...origin, usage: undefined } });
  }
  return content.length === 0 ? [] : [{ role: 'assistant', content, origin }, ...results];
}

function readAssistantPart(part: JsonObject, tally: Tally): readonly JsonObject[] {
  switch (part['type']) {
    case 'text':
      return readText(part, tally);
    case 'reasoning':
      return readReasoning(part, tally);
    case 'file':
      return readFile(part, tally);
    default:
      countUnknown(part, tally);
      return [];
  }
}

function readReasoning(part: JsonObject, tally: Tally): readonly JsonObject[] {
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
function readResult(id: string, state: JsonObject, tally: Tally): JsonObject | undefined {
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

/** A turn that ended in an error is not sent again, unless the user stopped it after it had done something. */
function isLostTurn(info: JsonObject, parts: readonly unknown[]): boolean {
  const { error } = info;
  if (!isObject(error)) return false;
  const hasWork = parts.some(
    (part) => isObject(part) && part['type'] !== 'step-start' && part['type'] !== 'reasoning',
  );
  return error['name'] !== 'MessageAbortedError' || !hasWork;
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

function countUnknown(part: JsonObject, tally: Tally): void {
  if (!SILENT_PARTS.has(asString(part['type']) ?? '')) tally.add('{n} part{s} of an unknown type left out');
}

function originOf(info: JsonObject, usage: Usage | undefined, { place }: MessageContext): Origin {
  const created = isObject(info['time']) ? info['time']['created'] : undefined;
  return { place, timestamp: timestampOf(created), responseId: undefined, usage };
}

function usageOf(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const cache: JsonObject = isObject(tokens['cache']) ? tokens['cache'] : {};
  const promptTokens = asCount(tokens['input']) + asCount(cache['read']) + asCount(cache['write']);
  const outputTokens = asCount(tokens['output']) + asCount(tokens['reasoning']);
  return promptTokens + outputTokens === 0 ? undefined : { promptTokens, outputTokens };
}
