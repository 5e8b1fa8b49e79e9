/** Repairs Gemini requests: roles, parts, pairs of calls and responses, signatures. */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import { hasToolCall, type Message } from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import type { ChangeLog } from '../change-log.ts';
import {
  isGiven,
  LEFT_OUT,
  leaveOutEmpty,
  looseWords,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  REMOVED,
  replaceEntries,
  SYSTEM_MARK,
  shapeParts,
  splitByRole,
  withoutFields,
} from '../mend/shaping.ts';
import { FOREIGN_SIGNATURE } from './convert.ts';

/** The mender of Gemini requests. */
export const geminiMender: Mender = {
  isMessage: ({ parts, content }) => isGiven(parts ?? content),
  fromText: (text) => ({ role: 'user', parts: [{ text }] }),
  shape,
  ids: () => ({
    needsId: () => false,
    withCallId: (part, id) => withInnerId(part, ['functionCall', 'function_call'], id),
    withAnsweredId: (part, id) => withInnerId(part, ['functionResponse', 'function_response'], id),
  }),
  resultMediaFitsUser: true,
  arrange: (messages, context) => signCalls(callAfterUser(messages, context), context),
  withInstructions(body, texts) {
    const key = isObject(body['system_instruction']) ? 'system_instruction' : 'systemInstruction';
    const before = body[key];
    const parts = texts.map((text) => ({ text }));
    if (!isObject(before)) {
      const own = typeof before === 'string' ? [{ text: before }] : [];
      return { ...body, [key]: { parts: [...own, ...parts] } };
    }
    return { ...body, [key]: { ...before, parts: [...asList(before['parts']), ...parts] } };
  },
};

function withInnerId(part: JsonObject, keys: readonly string[], id: string): JsonObject {
  const key = keys.find((name) => isObject(part[name])) ?? '';
  const inner = part[key];
  return isObject(inner) ? { ...part, [key]: { ...inner, id } } : part;
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'model', 'function', undefined, null, '']);

function shape(content: JsonObject, { log }: MendContext): readonly unknown[] {
  const parts = shapeParts(content, (part) => shapePart(part, log), log);
  if (parts.length === 0) return leaveOutEmpty(log);
  const filled = parts === content['parts'] ? content : { ...content, parts };
  const named = nameSpeaker(filled, parts, log);
  const own = named['role'] === 'model' ? 'model' : 'user';
  return splitByRole(named, { key: 'parts', own, roleOf: roleOfPart, log });
}

/** Contents of roles that Gemini does not know speak as the user or the model; instructions say that they are some. */
function nameSpeaker(content: JsonObject, parts: readonly unknown[], log: ChangeLog): JsonObject {
  if (ROLES.has(content['role'])) return content;
  const role = plainRole(content['role']);
  if (role !== 'system') {
    log.add('message of an unknown role', `taken for the ${role}'s`);
    return { ...content, role: role === 'assistant' ? 'model' : 'user' };
  }
  log.add('system message in the middle', 'turned into a marked user message');
  return { ...content, role: 'user', parts: [{ text: SYSTEM_MARK }, ...parts] };
}

/** The kinds of data that a part may hold, each under both of its names. */
const DATA_NAMES: ReadonlySet<string> = new Set([
  ...['text', 'inlineData', 'inline_data', 'fileData', 'file_data'],
  ...['functionCall', 'function_call', 'functionResponse', 'function_response'],
  ...['executableCode', 'executable_code', 'codeExecutionResult', 'code_execution_result'],
  ...['toolCall', 'tool_call', 'toolResponse', 'tool_response'],
]);

/** Fields that only describe the data of their part. */
const COMPANIONS: ReadonlySet<string> = new Set([
  ...['thought', 'thoughtSignature', 'thought_signature', 'mediaResolution', 'media_resolution'],
  ...['videoMetadata', 'video_metadata', 'partMetadata', 'part_metadata'],
]);

function shapePart(raw: unknown, log: ChangeLog): readonly unknown[] {
  if (!isObject(raw)) return looseWords(raw, log).map((text) => ({ text }));
  const part = withReadableSignature(raw, log);
  const held = Object.keys(part).filter((name) => DATA_NAMES.has(name) && isGiven(part[name]));
  if (held.length > 1) {
    log.add('part that holds several things', 'split');
    // What describes the part stays with the first of them.
    return held.flatMap((name, index) =>
      shapeData(
        withoutFields(part, (other) => (index === 0 ? held.slice(1).includes(other) : other !== name)),
        log,
      ),
    );
  }
  const isEmpty = Object.entries(part).every(([name, value]) => value === null || COMPANIONS.has(name));
  if (held.length === 0 && isEmpty) {
    log.add('empty part', LEFT_OUT);
    return [];
  }
  return shapeData(part, log);
}

function withReadableSignature(part: JsonObject, log: ChangeLog): JsonObject {
  const isOdd = (name: string) =>
    (name === 'thoughtSignature' || name === 'thought_signature') &&
    isGiven(part[name]) &&
    typeof part[name] !== 'string';
  const sound = withoutFields(part, isOdd);
  if (sound !== part) log.add('signature that is no text', REMOVED);
  return sound;
}

function shapeData(part: JsonObject, log: ChangeLog): readonly unknown[] {
  const inline = part['inlineData'] ?? part['inline_data'];
  const file = part['fileData'] ?? part['file_data'];
  const isFilled = (holder: unknown, names: readonly string[]) =>
    isObject(holder) && names.some((name) => typeof holder[name] === 'string' && holder[name] !== '');
  const isLost =
    (isGiven(inline) && !isFilled(inline, ['data'])) ||
    (isGiven(file) && !isFilled(file, ['fileUri', 'file_uri']));
  if (!isLost) return [part];
  log.add('document without data', NOTED);
  return [{ text: mediaNote('document') }];
}

/** Calls stand in contents of the model, responses in others. */
function roleOfPart(part: unknown): 'user' | 'model' | undefined {
  if (!isObject(part)) return undefined;
  if (isObject(part['functionCall'] ?? part['function_call'])) return 'model';
  return isObject(part['functionResponse'] ?? part['function_response']) ? 'user' : undefined;
}

/** A call follows something that the user said. */
function callAfterUser(
  messages: readonly Message[],
  { format, frame, log }: MendContext,
): readonly Message[] {
  const user = messages.findIndex(({ role }) => role !== 'assistant');
  const call = messages.findIndex(hasToolCall);
  if (frame.continues !== undefined || call === -1 || (user !== -1 && user < call)) return messages;
  log.add('list that begins with an answer', 'given a user message in front');
  return [...format.userMessages([format.textBlock(PLACEHOLDER_TEXT)]), ...messages];
}

const STRICT_GENERATION = 3;

/** From Gemini 3 on the first call of each answer of the current turn carries a signature. */
function signCalls(messages: readonly Message[], { format, model, log }: MendContext): readonly Message[] {
  const generation = /gemini-(\d{1,3})/.exec(model ?? '')?.[1];
  if (generation === undefined || Number(generation) < STRICT_GENERATION) return messages;
  const turn = messages.findLastIndex(
    ({ role, blocks }) => role === 'user' && blocks.some(({ type }) => type === 'text' || type === 'media'),
  );
  return replaceEntries(messages, (message, index) => {
    const call = message.blocks.find(({ type }) => type === 'tool-call');
    if (index <= turn || call?.type !== 'tool-call' || !isObject(call.raw)) return [message];
    if ((call.raw['thoughtSignature'] ?? call.raw['thought_signature'] ?? '') !== '') return [message];
    log.add('call without the signature that the model wants', 'given the one for foreign calls');
    const signed = { ...call, raw: { ...call.raw, thoughtSignature: FOREIGN_SIGNATURE } };
    return [format.withBlocks(message, message.blocks.with(message.blocks.indexOf(call), signed))];
  });
}
