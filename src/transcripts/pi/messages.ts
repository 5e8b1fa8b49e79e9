import type { Place } from '../../core/errors.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../core/json.ts';
import type { Usage } from '../../core/message.ts';
import type { MessagePiece, Piece } from '../anthropic-turns.ts';
import { placeInside } from '../place-inside.ts';
import { timestampOf } from '../record-time.ts';
import type { Tally } from '../tally.ts';
import type { Origin } from '../transcript.ts';

/** What reading a record's message needs besides the record. */
export interface MessageContext {
  readonly place: Place;
  readonly tally: Tally;
  reject(place: Place, reason: string): void;
}

/** The piece of conversation in a `message` record; undefined when it has none that is sent. */
export function readPiMessage(record: JsonObject, context: MessageContext): Piece | undefined {
  const message = record['message'];
  const read = isObject(message) ? roles.get(asString(message['role']) ?? '') : undefined;
  if (!isObject(message) || read === undefined) {
    context.reject(placeInside(context.place, 'message'), 'expected a message with a role that pi writes');
    return undefined;
  }
  return read(message, originOf(record, message, context.place), context);
}

/** A user message with this text, or these pi blocks; undefined when there is nothing in it. */
export function userPiece(content: unknown, origin: Origin, tally: Tally): MessagePiece | undefined {
  if (typeof content === 'string')
    return content.trim() === '' ? undefined : { role: 'user', content, origin };
  const blocks = asList(content).flatMap((block) => sharedBlock(block, tally));
  return blocks.length === 0 ? undefined : { role: 'user', content: blocks, origin };
}

/** Where a record and what it holds come from. */
export function originOf(record: JsonObject, message: JsonObject, place: Place): Origin {
  return {
    place,
    timestamp: timestampOf(record['timestamp']) ?? timestampOf(message['timestamp']),
    responseId: asString(message['responseId']),
    usage: usageOf(message['usage']),
  };
}

type MessageReader = (message: JsonObject, origin: Origin, context: MessageContext) => Piece | undefined;

const roles = new Map<string, MessageReader>([
  ['user', readUser],
  ['custom', readUser],
  ['hookMessage', readUser],
  ['assistant', readAssistant],
  ['toolResult', readResult],
  ['bashExecution', readShell],
]);

function readUser(message: JsonObject, origin: Origin, { tally }: MessageContext): Piece | undefined {
  const piece = userPiece(message['content'], origin, tally);
  if (piece === undefined) tally.add('{n} user message{s} without content left out');
  return piece;
}

function readAssistant(message: JsonObject, origin: Origin, context: MessageContext): Piece | undefined {
  const keepsThinking = CLAUDE_APIS.has(asString(message['api']) ?? 'anthropic-messages');
  const content = asList(message['content']).flatMap((block, index) => {
    const type = isObject(block) ? block['type'] : undefined;
    if (isObject(block) && type === 'thinking') return readThinking(block, keepsThinking, context.tally);
    if (isObject(block) && type === 'toolCall') return readCall(block, index, context);
    return sharedBlock(block, context.tally);
  });
  if (content.length > 0) return { role: 'assistant', content, origin };
  const isCutShort = message['stopReason'] === 'aborted' || message['stopReason'] === 'error';
  context.tally.add(
    isCutShort
      ? '{n} aborted or failed turn{s} without content left out'
      : '{n} turn{s} without content left out',
  );
  return undefined;
}

/** APIs whose thinking signatures are Anthropic's. Those of other providers mean nothing in this format. */
const CLAUDE_APIS = new Set(['anthropic-messages', 'bedrock-converse-stream']);

function readThinking(block: JsonObject, isClaude: boolean, tally: Tally): readonly JsonObject[] {
  const signature = asString(block['thinkingSignature']) ?? '';
  if (!isClaude || signature === '') {
    tally.add('{n} thinking block{s} without an Anthropic signature left out');
    return [];
  }
  if (block['redacted'] === true) return [{ type: 'redacted_thinking', data: signature }];
  return [{ type: 'thinking', thinking: asString(block['thinking']) ?? '', signature }];
}

function readCall(block: JsonObject, index: number, context: MessageContext): readonly JsonObject[] {
  const { id, name } = block;
  if (typeof id !== 'string' || typeof name !== 'string') {
    context.reject(
      placeInside(context.place, `message.content.${index}`),
      'expected a tool call with an id and a name',
    );
    return [];
  }
  return [{ type: 'tool_use', id, name, input: block['arguments'] ?? {} }];
}

function readResult(message: JsonObject, origin: Origin, { place, tally, reject }: MessageContext) {
  const id = message['toolCallId'];
  if (typeof id !== 'string') {
    reject(placeInside(place, 'message.toolCallId'), 'expected the id of the call that this result answers');
    return undefined;
  }
  const { content } = message;
  const blocks =
    typeof content === 'string' ? content : asList(content).flatMap((block) => sharedBlock(block, tally));
  const block = {
    type: 'tool_result',
    tool_use_id: id,
    ...(blocks.length > 0 ? { content: blocks } : {}),
    ...(message['isError'] === true ? { is_error: true } : {}),
  };
  return { role: 'result', block, origin } as const;
}

/** A command the user ran by hand. pi sends it as user text; the wording here is ours. */
function readShell(message: JsonObject, origin: Origin, { tally }: MessageContext): Piece | undefined {
  if (message['excludeFromContext'] === true) {
    tally.add('{n} shell command{s} kept from the model left out');
    return undefined;
  }
  tally.add('{n} shell command{s} of the user put into words');
  const exitCode = message['exitCode'];
  const lines = [
    `$ ${asString(message['command']) ?? ''}`,
    asString(message['output']) ?? '',
    message['cancelled'] === true ? '(cancelled)' : '',
    typeof exitCode === 'number' && exitCode !== 0 ? `(exit code ${exitCode})` : '',
  ];
  return { role: 'user', content: lines.filter((line) => line !== '').join('\n'), origin };
}

/** Text and images, as they occur in every role. Blocks of an unknown type stay the very same values. */
function sharedBlock(block: unknown, tally: Tally): readonly unknown[] {
  if (!isObject(block)) {
    tally.add('{n} content block{s} of an unknown shape left out');
    return [];
  }
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') {
    if (text.trim() !== '') return [Object.keys(block).length === 2 ? block : { type, text }];
    tally.add('{n} blank text block{s} left out');
    return [];
  }
  if (type === 'image' && typeof data === 'string') {
    return [{ type, source: { type: 'base64', media_type: mimeType, data } }];
  }
  return [block];
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const promptTokens = asCount(usage['input']) + asCount(usage['cacheRead']) + asCount(usage['cacheWrite']);
  const outputTokens = asCount(usage['output']);
  return promptTokens + outputTokens === 0 ? undefined : { promptTokens, outputTokens };
}
