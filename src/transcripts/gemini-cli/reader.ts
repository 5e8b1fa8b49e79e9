import type { Place } from '../../conversation/errors.ts';
import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { BadInput, JsonEntry } from '../input/json-values.ts';
import { placeInside } from '../place-inside.ts';
import { createTally, type Tally } from '../tally.ts';
import type { Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';
import { messageTypes, toContents, type Unit } from './messages.ts';

/**
 * Session files of Gemini CLI, as Gemini contents: one JSON document per session, or JSONL with a header, a record
 * per message (a later record with the same id replaces the earlier one), `$set` and `$rewindTo`.
 */
export const geminiCli: TranscriptReader = {
  name: 'gemini-cli',
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
  readonly tally: Tally;
}

type Reject = (place: Place, reason: string) => void;

function openFile(onBadInput: (bad: BadInput) => void): TranscriptFold {
  const reject: Reject = (place, reason) => onBadInput({ place, reason });
  let session: Session | undefined;
  let sessions = 0;
  const start = (id: string | undefined): Session => {
    sessions++;
    return { id, isSubagent: false, messages: new Map(), tally: createTally() };
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

function addMessage({ messages }: Session, message: unknown, { place, reject }: RecordContext): void {
  const read = isObject(message) ? messageTypes.get(asString(message['type']) ?? '') : undefined;
  if (!isObject(message) || typeof message['type'] !== 'string') {
    reject(place, 'expected a message of a Gemini CLI session: an object with a `type`');
    return;
  }
  const notes: string[] = read === undefined ? ['{n} message{s} of an unknown type left out'] : [];
  const id = asString(message['id']) ?? `without id ${messages.size}`;
  const unit = read?.(message, place, { add: (note) => void notes.push(note) });
  messages.set(id, { unit, notes });
}

function toTranscript({ id, isSubagent, messages, tally }: Session, isOnly: boolean): Transcript {
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
  };
}
