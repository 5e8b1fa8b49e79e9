import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { geminiCharge, type RecordedCharge } from '../charges.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { createTally, placeInside, type Tally, timestampOf, usageOf } from '../records.ts';
import type { Origin, Reject, Segment, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';

/**
 * Session files of Gemini CLI, as Gemini contents: one JSON document per session, or JSONL with a header, a record
 * per message (a later record with the same id replaces the earlier one), `$set` and `$rewindTo`.
 */
export const geminiCli: TranscriptReader = {
  name: 'gemini-cli',
  product: 'Gemini CLI',
  summary: 'Gemini CLI session files (JSON or JSONL)',
  location: '~/.gemini/tmp/<project>/chats/session-<time>-<id>.json',
  recognise: (sample) =>
    sample.some(({ value }) => isObject(value) && (isHeader(value) || isModelRecord(value))),
  open: openFile,
};

function isHeader(value: JsonObject): boolean {
  return typeof value['sessionId'] === 'string' && typeof value['projectHash'] === 'string';
}

function isModelRecord(value: JsonObject): boolean {
  return value['type'] === 'gemini' && typeof value['id'] === 'string' && value['content'] !== undefined;
}

/** The newest record of a message. */
interface SessionMessage {
  /** Undefined for what is not sent but may be the target of a rewind. */
  readonly unit: Unit | undefined;
  /** What there is to say about it, unless a later record takes its place. */
  readonly notes: readonly string[];
}

interface Session {
  readonly id: string | undefined;
  isSubagent: boolean;
  readonly messages: Map<string, SessionMessage>;
  /** By message; what was taken back was paid for. */
  readonly charges: Map<string, RecordedCharge>;
  readonly tally: Tally;
}

function openFile(reject: Reject): TranscriptFold {
  let session: Session | undefined;
  let sessions = 0;
  const start = (id: string | undefined): Session => {
    sessions++;
    return { id, isSubagent: false, messages: new Map(), charges: new Map(), tally: createTally() };
  };
  return {
    *add({ value, place }: JsonEntry) {
      if (!isObject(value)) {
        reject(place, 'expected a Gemini CLI session, or a record of one');
        return;
      }
      if (isHeader(value)) {
        // A resumed session writes its header again; another id means another session.
        const id = asString(value['sessionId']);
        if (session !== undefined && session.id !== id) yield toTranscript(session, sessions === 1);
        if (session?.id !== id) session = start(id);
      }
      session ??= start(undefined);
      addRecord(session, value, { place, reject });
    },
    *end() {
      if (session !== undefined) yield toTranscript(session, sessions === 1);
    },
  };
}

interface RecordContext {
  readonly place: Place;
  readonly reject: Reject;
}

function addRecord(session: Session, value: JsonObject, context: RecordContext): void {
  const { $set: update, $rewindTo: rewindTo } = value;
  if (typeof rewindTo === 'string') rewind(session, rewindTo);
  else if (isObject(update)) setFields(session, update, context, '$set.');
  else if (isHeader(value)) setFields(session, value, context, '');
  else addMessage(session, value, context);
}

function setFields(
  session: Session,
  fields: JsonObject,
  { place, reject }: RecordContext,
  prefix: string,
): void {
  if (fields['kind'] !== undefined) session.isSubagent = fields['kind'] === 'subagent';
  if (!Array.isArray(fields['messages'])) return;
  session.messages.clear();
  for (const [index, message] of fields['messages'].entries()) {
    addMessage(session, message, { place: placeInside(place, `${prefix}messages.${index}`), reject });
  }
}

function rewind({ messages, tally }: Session, id: string): void {
  if (!messages.has(id)) {
    tally.add('{n} rewind{s} to a message that is not in the file not applied');
    return;
  }
  const ids = [...messages.keys()];
  for (const later of ids.slice(ids.indexOf(id))) messages.delete(later);
  tally.add('{n} rewind{s} applied: what was taken back is left out');
}

function addMessage(
  { messages, charges }: Session,
  message: unknown,
  { place, reject }: RecordContext,
): void {
  const read = isObject(message) ? messageTypes.get(asString(message['type']) ?? '') : undefined;
  if (!isObject(message) || typeof message['type'] !== 'string') {
    reject(place, 'expected a message of a Gemini CLI session: an object with a `type`');
    return;
  }
  const notes: string[] = read === undefined ? ['{n} message{s} of an unknown type left out'] : [];
  const id = asString(message['id']) ?? `without id ${messages.size}`;
  const unit = read?.(message, place, { add: (note) => void notes.push(note) });
  messages.set(id, { unit, notes });
  const charge = geminiCharge(message, timestampOf(message['timestamp']));
  if (charge !== undefined) charges.set(id, charge);
}

function toTranscript({ id, isSubagent, messages, charges, tally }: Session, isOnly: boolean): Transcript {
  const sent = [...messages.values()].flatMap(({ unit }) => unit ?? []);
  for (const { notes } of messages.values()) for (const note of notes) tally.add(note);
  const name = isSubagent ? 'sub-agent' : 'main';
  return {
    reader: geminiCli.name,
    format: 'gemini',
    title: isOnly ? name : `session ${id ?? 'without id'}`,
    kind: isSubagent ? 'side-chain' : 'main',
    model: sent.findLast(({ model }) => model !== undefined)?.model,
    segments: [toContents(sent)],
    notes: tally.notes(),
    session: { id },
    charges: [...charges.values()],
  };
}

type Notes = Pick<Tally, 'add'>;

/** A message, reduced to what is sent. */
interface Unit {
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
const messageTypes: ReadonlyMap<string, MessageReader> = new Map<string, MessageReader>([
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
    usage: usageOf(message['tokens'], ['input', 'tool'], ['output', 'thoughts']),
  };
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly unknown[];
}

/**
 * The only segment of a session, as Gemini contents: calls and their responses in turns of their own. Newer versions
 * record a response twice, with its call and as the message that was sent; what was sent counts.
 */
function toContents(units: readonly Unit[]): Segment {
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
