import type { Place } from '../../conversation/errors.ts';
import { asCount, asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import { timestampOf } from '../record-time.ts';
import type { Tally } from '../tally.ts';
import type { Origin, Segment } from '../transcript.ts';

type Notes = Pick<Tally, 'add'>;

/** A message, reduced to what is sent. */
export interface Unit {
  readonly role: 'user' | 'model';
  readonly parts: readonly unknown[];
  readonly calls: readonly JsonObject[];
  /** What came of the calls, for each that has a result. */
  readonly responses: readonly CallResponse[];
  readonly origin: Origin;
  readonly model: string | undefined;
}

interface CallResponse {
  readonly callId: string | undefined;
  readonly parts: readonly unknown[];
}

type MessageReader = (message: JsonObject, place: Place, notes: Notes) => Unit | undefined;

/** How each type of message is read. Undefined comes back for what is not sent. */
export const messageTypes: ReadonlyMap<string, MessageReader> = new Map<string, MessageReader>([
  ['user', readUser],
  ['gemini', readModel],
  ['info', leaveNotice],
  ['warning', leaveNotice],
  ['error', leaveNotice],
]);

function leaveNotice(_message: JsonObject, _place: Place, notes: Notes): undefined {
  notes.add('{n} notice{s} of the program left out');
}

function readUser(message: JsonObject, place: Place, notes: Notes): Unit | undefined {
  const parts = partsOf(message['content']);
  if (parts.length === 0) {
    notes.add('{n} message{s} without content left out');
    return undefined;
  }
  return {
    role: 'user',
    parts,
    calls: [],
    responses: [],
    origin: originOf(message, place),
    model: undefined,
  };
}

function readModel(message: JsonObject, place: Place, notes: Notes): Unit | undefined {
  for (const _ of asList(message['thoughts'])) notes.add('{n} thought{s} left out: shown, never sent');
  const parts = partsOf(message['content']);
  const inContent = new Set<unknown>(parts.flatMap((part) => callId(part) ?? []));
  const records = asList(message['toolCalls']).filter((call) => isObject(call));
  const calls = records.filter((call) => !inContent.has(call['id'])).map(toCall);
  if (parts.length + calls.length === 0) {
    notes.add('{n} message{s} without content left out');
    return undefined;
  }
  return {
    role: 'model',
    parts,
    calls,
    responses: records.map(responseOf).filter(({ parts: answer }) => answer.length > 0),
    origin: originOf(message, place),
    model: asString(message['model']),
  };
}

function partsOf(content: unknown): readonly unknown[] {
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => {
    if (typeof part === 'string') return part === '' ? [] : [{ text: part }];
    return isObject(part) ? [part] : [];
  });
}

function isCall(part: unknown): boolean {
  return isObject(part) && part['functionCall'] !== undefined;
}

function callId(part: unknown): string | undefined {
  const call = isObject(part) ? part['functionCall'] : undefined;
  return isObject(call) ? asString(call['id']) : undefined;
}

function toCall(record: JsonObject): JsonObject {
  const { id, name, args } = record;
  return { functionCall: { ...(id === undefined ? {} : { id }), name, args: args ?? {} } };
}

/** The parts that answer a call: as recorded, or the recorded text as the output of a response. Empty without a result. */
function responseOf(record: JsonObject): CallResponse {
  const { id, name } = record;
  const callId = asString(id);
  const parts = partsOf(record['result']);
  if (parts.length === 0 || parts.some((part) => isObject(part) && isObject(part['functionResponse'])))
    return { callId, parts };
  const output = parts.map((part) => (isObject(part) ? (asString(part['text']) ?? '') : '')).join('');
  const response = { ...(id === undefined ? {} : { id }), name, response: { output } };
  return { callId, parts: [{ functionResponse: response }] };
}

function originOf(message: JsonObject, place: Place): Origin {
  return {
    place,
    timestamp: timestampOf(message['timestamp']),
    responseId: undefined,
    usage: usageOf(message['tokens']),
  };
}

function usageOf(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const promptTokens = asCount(tokens['input']) + asCount(tokens['tool']);
  const outputTokens = asCount(tokens['output']) + asCount(tokens['thoughts']);
  return promptTokens + outputTokens === 0 ? undefined : { promptTokens, outputTokens };
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly unknown[];
}

/**
 * The only segment of a session, as Gemini contents: calls and their responses in turns of their own. Newer versions
 * record a response twice, with its call and as the message that was sent; what was sent counts.
 */
export function toContents(units: readonly Unit[]): Segment {
  const contents: Content[] = [];
  const origins: Origin[] = [];
  let isOpen = false;
  let unsent: readonly unknown[] = [];
  for (const [index, { role, parts, calls, responses, origin }] of units.entries()) {
    const last = contents.at(-1);
    // Calls that were recorded late stand in a record of their own, without the text of their response.
    if (isOpen && last !== undefined && role === 'model' && parts.length === 0) {
      contents[contents.length - 1] = { role, parts: [...last.parts, ...calls] };
    } else {
      contents.push({ role, parts: [...unsent, ...parts, ...calls] });
      origins.push(origin);
    }
    isOpen = role === 'model' && calls.length === 0 && !parts.some(isCall);
    const sent = answeredCalls(units[index + 1]);
    const left = responses.filter(({ callId }) => callId === undefined || !sent.has(callId));
    const answers = left.flatMap((response) => response.parts);
    // All responses to a turn stand in one content: what the next message lacks is put in front of it.
    unsent = left.length < responses.length ? answers : [];
    if (left.length < responses.length || answers.length === 0) continue;
    contents.push({ role: 'user', parts: answers });
    origins.push({ ...origin, usage: undefined });
  }
  return { body: contents, origins, opening: undefined };
}

/** The ids of the calls that a message of the user's answers. */
function answeredCalls(unit: Unit | undefined): ReadonlySet<string> {
  const parts = unit?.role === 'user' ? unit.parts : [];
  return new Set(
    parts.flatMap((part) => {
      const response = isObject(part) ? part['functionResponse'] : undefined;
      return isObject(response) ? (asString(response['id']) ?? []) : [];
    }),
  );
}
