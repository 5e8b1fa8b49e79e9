import { asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { BadInput, JsonEntry } from '../input/json-values.ts';
import type { TranscriptFold, TranscriptReader } from '../transcript.ts';
import { bookkeepingTypes, readRecord, type SessionRecord } from './record.ts';
import { toTranscripts } from './transcripts.ts';

/**
 * Session files of Claude Code, as Anthropic messages. The records form a tree: the conversation is the chain from
 * the newest leaf, sub-agents are side chains of their own, and each compaction opens a segment. All transcripts come
 * at the end, because any later record may move the leaf: the live conversation first, then earlier conversations of
 * the file that are not linked to it, then the side chains.
 */
export const claudeCode: TranscriptReader = {
  name: 'claude-code',
  summary: 'Claude Code session (JSONL)',
  location: '~/.claude/projects/<project>/<session>.jsonl',
  recognise: (sample) => sample.some(({ value }) => isObject(value) && isSessionRecord(value)),
  open: openSession,
};

/** Keys, all of them texts, that tell a record of this type from whatever else has such a type. */
const telltaleKeys = new Map<string, readonly string[]>([
  ['ai-title', ['sessionId']],
  ['custom-title', ['sessionId']],
  ['file-history-snapshot', ['messageId']],
  ['last-prompt', ['sessionId']],
  ['mode', ['sessionId']],
  ['permission-mode', ['sessionId']],
  ['pr-link', ['sessionId']],
  ['queue-operation', ['sessionId']],
  ['summary', ['summary', 'leafUuid']],
]);

function isSessionRecord(value: JsonObject): boolean {
  const type = asString(value['type']) ?? '';
  const keys = telltaleKeys.get(type);
  if (keys?.every((key) => typeof value[key] === 'string')) return true;
  if (Object.hasOwn(value, 'parentUuid')) return type !== '' && typeof value['uuid'] === 'string';
  return (
    (type === 'user' || type === 'assistant') &&
    isObject(value['message']) &&
    typeof value['sessionId'] === 'string'
  );
}

/** What is known of a file besides its records. */
interface Session {
  readonly onBadInput: (bad: BadInput) => void;
  readonly records: SessionRecord[];
  readonly uuids: Set<string>;
  repeated: number;
  readonly unknownTypes: Map<string, number>;
}

function openSession(onBadInput: (bad: BadInput) => void): TranscriptFold {
  const session: Session = {
    onBadInput,
    records: [],
    uuids: new Set(),
    repeated: 0,
    unknownTypes: new Map(),
  };
  return {
    add(entry) {
      addEntry(session, entry);
      return [];
    },
    end: () => toTranscripts(session.records, notesOn(session)),
  };
}

function addEntry(session: Session, { value, place }: JsonEntry): void {
  const type = isObject(value) ? asString(value['type']) : undefined;
  if (!isObject(value) || type === undefined) {
    session.onBadInput({ place, reason: 'a record must be an object with a type' });
    return;
  }
  const record = readRecord(value, place, (reason) => session.onBadInput({ place, reason }));
  const hasMeaning = record.isTurn || record.leftOut !== undefined || bookkeepingTypes.has(type);
  if (!hasMeaning) session.unknownTypes.set(type, (session.unknownTypes.get(type) ?? 0) + 1);
  if (record.uuid !== undefined && session.uuids.has(record.uuid)) {
    session.repeated++;
    return;
  }
  if (record.uuid === undefined && !record.isTurn) return;
  if (record.uuid !== undefined) session.uuids.add(record.uuid);
  session.records.push(record);
}

/** Notes on the file as a whole; they go with its first transcript. */
function notesOn({ repeated, unknownTypes }: Session): string[] {
  const notes: string[] = [];
  if (repeated > 0) notes.push(`${repeated} repeated ${repeated === 1 ? 'record' : 'records'} left out`);
  const unknown = [...unknownTypes].map(([type, count]) => `${count} ${type}`);
  if (unknown.length > 0) notes.push(`records of unknown type left out: ${unknown.join(', ')}`);
  return notes;
}
