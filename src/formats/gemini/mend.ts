import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import { hasToolCall, type Message } from '../../conversation/message.ts';
import { PLACEHOLDER_TEXT } from '../../conversation/pairing.ts';
import { toJson } from '../content.ts';
import {
  AS_TEXT,
  type IdRules,
  LEFT_OUT,
  looseText,
  type MendContext,
  type Mender,
  mediaNote,
  NOTED,
  plainRole,
  REMOVED_FIELD,
  replaceEntries,
  SYSTEM_MARK,
  unwrapMessage,
  withoutFields,
} from '../mend/shaping.ts';

const ids: IdRules = {
  maxLength: 64,
  isLegal: () => true,
  needsId: () => false,
  withCallId: (part, id) => withInnerId(part, ['functionCall', 'function_call'], id),
  withAnsweredId: (part, id) => withInnerId(part, ['functionResponse', 'function_response'], id),
};

function withInnerId(part: JsonObject, keys: readonly string[], id: string): JsonObject {
  const key = keys.find((name) => isObject(part[name])) ?? '';
  const inner = part[key];
  return isObject(inner) ? { ...part, [key]: { ...inner, id } } : part;
}

/** Gemini. */
export const geminiMender: Mender = {
  shape,
  idRules: () => ids,
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

const ROLES: ReadonlySet<unknown> = new Set(['user', 'model', 'function', undefined, null, '']);

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { log } = context;
  const content = unwrapMessage(raw, hasParts, log);
  if (!isObject(content) || (!hasParts(content) && typeof content['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', parts: [{ text }] }];
  }
  const parts = shapeParts(content, context);
  if (parts.length === 0) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  const filled = parts === content['parts'] ? content : { ...content, parts };
  if (ROLES.has(content['role'])) return splitByRole(filled, context);
  const role = plainRole(content['role']);
  if (role === 'system') {
    log.add('system message in the middle', 'turned into a marked user message');
    return splitByRole({ ...filled, role: 'user', parts: [{ text: SYSTEM_MARK }, ...parts] }, context);
  }
  log.add('message of an unknown role', `taken for the ${role}'s`);
  return splitByRole({ ...filled, role: role === 'assistant' ? 'model' : 'user' }, context);
}

function hasParts(value: JsonObject): boolean {
  return (value['parts'] ?? value['content'] ?? null) !== null;
}

function shapeParts({ parts, content }: JsonObject, context: MendContext): readonly unknown[] {
  if (Array.isArray(parts))
    return replaceEntries(parts as readonly unknown[], (part) => shapePart(part, context));
  const found = [parts, content].find((value) => value !== undefined && value !== null);
  if (found === undefined) return [];
  context.log.add('content that is no list', 'put into one');
  const list = Array.isArray(found) ? (found as readonly unknown[]) : [found];
  return list.flatMap((part) => shapePart(part, context));
}

/** Each kind of data of a part under both of its names. */
const DATA_FIELDS: readonly (readonly string[])[] = [
  ['text'],
  ['inlineData', 'inline_data'],
  ['fileData', 'file_data'],
  ['functionCall', 'function_call'],
  ['functionResponse', 'function_response'],
  ['executableCode', 'executable_code'],
  ['codeExecutionResult', 'code_execution_result'],
  ['toolCall', 'tool_call'],
  ['toolResponse', 'tool_response'],
];
const DATA_NAMES: ReadonlySet<string> = new Set(DATA_FIELDS.flat());

/** Fields that only describe the data of their part. */
const COMPANIONS: ReadonlySet<string> = new Set([
  ...['thought', 'thoughtSignature', 'thought_signature', 'mediaResolution', 'media_resolution'],
  ...['videoMetadata', 'video_metadata', 'partMetadata', 'part_metadata'],
]);

function shapePart(raw: unknown, { log }: MendContext): readonly unknown[] {
  if (!isObject(raw)) {
    const text = typeof raw === 'string' ? raw : (toJson(raw ?? undefined) ?? '');
    log.add('value that is no content part', text.trim() === '' ? LEFT_OUT : AS_TEXT);
    return text.trim() === '' ? [] : [{ text }];
  }
  const part = withReadableSignature(raw, log);
  const held = Object.keys(part).filter((name) => DATA_NAMES.has(name) && (part[name] ?? null) !== null);
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

function withReadableSignature(part: JsonObject, log: MendContext['log']): JsonObject {
  const isOdd = (name: string) =>
    (name === 'thoughtSignature' || name === 'thought_signature') &&
    (part[name] ?? null) !== null &&
    typeof part[name] !== 'string';
  const sound = withoutFields(part, isOdd);
  if (sound !== part) log.add('signature that is no text', REMOVED_FIELD);
  return sound;
}

function shapeData(part: JsonObject, log: MendContext['log']): readonly unknown[] {
  const inline = part['inlineData'] ?? part['inline_data'];
  const file = part['fileData'] ?? part['file_data'];
  const isFilled = (holder: unknown, names: readonly string[]) =>
    isObject(holder) && names.some((name) => typeof holder[name] === 'string' && holder[name] !== '');
  const isLost =
    ((inline ?? null) !== null && !isFilled(inline, ['data'])) ||
    ((file ?? null) !== null && !isFilled(file, ['fileUri', 'file_uri']));
  if (!isLost) return [part];
  log.add('document without data', NOTED);
  return [{ text: mediaNote('document') }];
}

function roleOfPart(part: unknown): 'user' | 'model' | undefined {
  if (!isObject(part)) return undefined;
  if (isObject(part['functionCall'] ?? part['function_call'])) return 'model';
  return isObject(part['functionResponse'] ?? part['function_response']) ? 'user' : undefined;
}

/** Calls stand in contents of the model, responses in others. */
function splitByRole(content: JsonObject, { log }: MendContext): readonly unknown[] {
  const own = content['role'] === 'model' ? 'model' : 'user';
  const parts = asList(content['parts']);
  const strays = parts.filter((part) => (roleOfPart(part) ?? own) !== own).length;
  if (strays === 0) return [content];
  log.add('block in a message of the wrong role', 'moved to a message of its own', strays);
  const split: { readonly role: string; readonly parts: unknown[] }[] = [];
  for (const part of parts) {
    const role = roleOfPart(part) ?? own;
    const last = split.at(-1);
    if (last?.role === role) last.parts.push(part);
    else split.push({ role, parts: [part] });
  }
  return split.map((one) => (one.role === own ? { ...content, parts: one.parts } : one));
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

/** Stands for the signature of a call that has none; documented for calls that another model made. */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

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
    return [
      format.withBlocks(
        message,
        message.blocks.map((block) => (block === call ? signed : block)),
      ),
    ];
  });
}
