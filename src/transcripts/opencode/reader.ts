import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import { anthropicSegment, type Piece, type SegmentPieces } from '../anthropic-turns.ts';
import type { BadInput, JsonEntry } from '../input/json-values.ts';
import { placeInside } from '../place-inside.ts';
import { createTally, type Tally } from '../tally.ts';
import type { Segment, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';
import { type MessageContext, readAssistant, readUser, textOfParts } from './messages.ts';

/**
 * OpenCode sessions, as Anthropic messages: the output of `opencode export`, or messages in the layout
 * `{info, parts}` as its server gives them. A compaction opens a segment: its summary as a user message, the tail it
 * kept, and what came later.
 */
export const opencode: TranscriptReader = {
  name: 'opencode',
  summary: 'OpenCode sessions: `opencode export`, or messages as {info, parts}',
  location: undefined,
  recognise: (sample) => sample.some(({ value }) => isExport(value) || isRecord(value)),
  open: openFile,
};

type MessageRecord = JsonObject & { readonly info: JsonObject; readonly parts: readonly unknown[] };

function isRecord(value: unknown): value is MessageRecord {
  if (!isObject(value) || !isObject(value['info']) || !Array.isArray(value['parts'])) return false;
  return typeof value['info']['role'] === 'string' && typeof value['info']['id'] === 'string';
}

function isExport(value: unknown): value is JsonObject {
  if (!isObject(value) || !isObject(value['info']) || !Array.isArray(value['messages'])) return false;
  const { messages, info } = value;
  return messages.length === 0 ? typeof info['id'] === 'string' : messages.some(isRecord);
}

/** A message, reduced to what the conversation needs. */
interface Entry {
  readonly id: string | undefined;
  readonly pieces: readonly Piece[];
  readonly model: string | undefined;
  /** Set on the user message that asks for a compaction. */
  readonly marker: { readonly isAutomatic: boolean; readonly tailStartId: string | undefined } | undefined;
  /** Set on the assistant message that holds the summary. */
  readonly summary: string | undefined;
}

interface Session {
  readonly id: string | undefined;
  readonly entries: Entry[];
  readonly tally: Tally;
}

function openFile(onBadInput: (bad: BadInput) => void): TranscriptFold {
  const sessions = new Map<string | undefined, Session>();
  const reject: MessageContext['reject'] = (place, reason) => onBadInput({ place, reason });
  let exported = 0;
  const addRecord = (session: Session, value: unknown, place: Place): void => {
    if (isRecord(value)) session.entries.push(readEntry(value, { place, tally: session.tally, reject }));
    else reject(place, 'expected an OpenCode message: an object with `info` and `parts`');
  };
  return {
    *add({ value, place }: JsonEntry) {
      if (isExport(value)) {
        const info: JsonObject = isObject(value['info']) ? value['info'] : {};
        const session = createSession(asString(info['id']));
        for (const [index, message] of asList(value['messages']).entries()) {
          addRecord(session, message, placeInside(place, `messages.${index}`));
        }
        yield toTranscript(session, exported++ === 0, typeof info['parentID'] === 'string');
        return;
      }
      const id = isRecord(value) ? asString(value.info['sessionID']) : undefined;
      const session = sessions.get(id) ?? createSession(id);
      addRecord(session, value, place);
      if (session.entries.length > 0) sessions.set(id, session);
    },
    *end() {
      for (const session of sessions.values()) yield toTranscript(session, sessions.size === 1, false);
    },
  };
}

function createSession(id: string | undefined): Session {
  return { id, entries: [], tally: createTally() };
}

function readEntry({ info, parts }: MessageRecord, context: MessageContext): Entry {
  const isAssistant = info['role'] === 'assistant';
  const model = isAssistant
    ? info['modelID']
    : isObject(info['model'])
      ? info['model']['modelID']
      : undefined;
  const marker = isAssistant
    ? undefined
    : parts.find((part) => isObject(part) && part['type'] === 'compaction');
  // A user message has a `summary` too: an object with the changes it led to.
  const isSummary = isAssistant && info['summary'] === true && !isObject(info['error']);
  const summary = isSummary ? textOfParts(parts).trim() : '';
  const read = isAssistant ? readAssistant : readUser;
  return {
    id: asString(info['id']),
    pieces: read(info, parts, context),
    model: asString(model),
    marker: isObject(marker)
      ? { isAutomatic: marker['auto'] === true, tailStartId: asString(marker['tail_start_id']) }
      : undefined,
    summary: summary === '' ? undefined : summary,
  };
}

function toTranscript(session: Session, isOnly: boolean, isSideChain: boolean): Transcript {
  const { entries, tally } = session;
  return {
    reader: opencode.name,
    format: 'anthropic-messages',
    title: isOnly ? 'main' : `session ${session.id ?? 'without id'}`,
    kind: isSideChain ? 'side-chain' : 'main',
    model: entries.findLast(({ model }) => model !== undefined)?.model,
    segments: segmentsOf(entries, tally),
    notes: tally.notes(),
  };
}

function segmentsOf(entries: readonly Entry[], tally: Tally): readonly Segment[] {
  const segments: Segment[] = [];
  const told: Entry[] = [];
  let marker: Entry['marker'];
  let current: SegmentPieces & { later: Piece[] } = { carried: [], later: [] };
  for (const entry of entries) {
    if (entry.marker !== undefined) {
      if (marker !== undefined) tally.add('{n} compaction{s} that came to nothing left out');
      marker = entry.marker;
    }
    if (entry.summary === undefined) {
      told.push(entry);
      for (const piece of entry.pieces) current.later.push(piece);
      continue;
    }
    segments.push(anthropicSegment(current));
    current = { ...compactedBy(entry, marker, told), later: [] };
    marker = undefined;
  }
  if (marker !== undefined) tally.add('{n} compaction{s} that came to nothing left out');
  segments.push(anthropicSegment(current));
  return segments;
}

function compactedBy(
  entry: Entry,
  marker: Entry['marker'],
  told: readonly Entry[],
): Pick<SegmentPieces, 'compaction' | 'carried'> {
  const { summary } = entry;
  const tailStartId = marker?.tailStartId;
  const start = tailStartId === undefined ? -1 : told.findIndex(({ id }) => id === tailStartId);
  const tail = start === -1 ? [] : told.slice(start).flatMap(({ pieces }) => pieces);
  const trigger = marker === undefined ? undefined : marker.isAutomatic ? 'auto' : 'manual';
  return {
    compaction: { trigger, tokensBefore: undefined, tokensAfter: undefined, summary },
    // The summary was the assistant's; a conversation has to begin with the user.
    carried: [...summaryPiece(entry), ...tail],
  };
}

function summaryPiece({ summary, pieces }: Entry): readonly Piece[] {
  const origin = pieces[0]?.origin;
  if (summary === undefined || origin === undefined) return [];
  return [{ role: 'user', content: summary, origin: { ...origin, usage: undefined } }];
}
