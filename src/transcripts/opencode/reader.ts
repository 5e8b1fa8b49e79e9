import type { Place } from '../../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import { anthropicSegment, type Piece, type SegmentPieces } from '../anthropic-turns.ts';
import { opencodeCharges, type RecordedCharge } from '../charges.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { createTally, placeInside, type Tally, timestampOf, usageOf } from '../records.ts';
import type {
  Origin,
  Reject,
  Segment,
  SessionFacts,
  Transcript,
  TranscriptFold,
  TranscriptReader,
} from '../transcript.ts';
import { countUnknown, readFile, readReasoning, readResult, readText } from './parts.ts';

/**
 * OpenCode sessions, as Anthropic messages: the output of `opencode export`, or messages in the layout
 * `{info, parts}` as its server gives them. A compaction opens a segment: its summary as a user message, the tail it
 * kept, and what came later.
 */
export const opencode: TranscriptReader = {
  name: 'opencode',
  product: 'OpenCode',
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
  readonly provider: string | undefined;
  readonly charges: readonly RecordedCharge[];
  /** Set on the user message that asks for a compaction. */
  readonly marker: { readonly isAutomatic: boolean; readonly tailStartId: string | undefined } | undefined;
  /** Set on the assistant message that holds the summary. */
  readonly summary: string | undefined;
}

interface Session {
  readonly id: string | undefined;
  readonly entries: Entry[];
  readonly tally: Tally;
  readonly facts: SessionFacts;
}

function openFile(reject: Reject): TranscriptFold {
  const sessions = new Map<string | undefined, Session>();
  let exported = 0;
  const addRecord = (session: Session, value: unknown, place: Place): void => {
    if (isRecord(value)) session.entries.push(readEntry(value, { place, tally: session.tally, reject }));
    else reject(place, 'expected an OpenCode message: an object with `info` and `parts`');
  };
  return {
    *add({ value, place }: JsonEntry) {
      if (isExport(value)) {
        const info: JsonObject = isObject(value['info']) ? value['info'] : {};
        const session = createSession(asString(info['id']), info);
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

function createSession(id: string | undefined, info: JsonObject = {}): Session {
  const facts = { id, folder: asString(info['directory']), version: asString(info['version']) };
  return { id, entries: [], tally: createTally(), facts };
}

function readEntry({ info, parts }: MessageRecord, context: MessageContext): Entry {
  const isAssistant = info['role'] === 'assistant';
  const author: JsonObject = isAssistant ? info : isObject(info['model']) ? info['model'] : {};
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
    model: asString(author['modelID']),
    provider: asString(author['providerID']),
    charges: isAssistant ? opencodeCharges(info, parts, createdAt(info)) : [],
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
    charges: entries.flatMap(({ charges }) => charges),
    session: {
      ...session.facts,
      provider: entries.findLast(({ provider }) => provider !== undefined)?.provider,
    },
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

/** What reading a message needs besides the message. */
interface MessageContext {
  readonly place: Place;
  readonly tally: Tally;
  readonly reject: Reject;
}

/** The pieces of a user message: one message, or nothing when nothing in it is sent. */
function readUser(info: JsonObject, parts: readonly unknown[], context: MessageContext): readonly Piece[] {
  const content = parts.flatMap((part) => (isObject(part) ? readUserPart(part, context.tally) : []));
  return content.length === 0 ? [] : [{ role: 'user', content, origin: originOf(info, undefined, context) }];
}

/**
 * The pieces of an assistant message. OpenCode may keep several responses in one message, each opened by a
 * `step-start` part, and keeps a call together with its result.
 */
function readAssistant(
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
    return readStep(step, originOf(info, readUsage(tokens), context), context);
  });
  if (pieces.length === 0) context.tally.add('{n} turn{s} without content left out');
  return pieces;
}

/** All text of a message, for summaries. */
function textOfParts(parts: readonly unknown[]): string {
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

/** A turn that ended in an error is not sent again, unless the user stopped it after it had done something. */
function isLostTurn(info: JsonObject, parts: readonly unknown[]): boolean {
  const { error } = info;
  if (!isObject(error)) return false;
  const hasWork = parts.some(
    (part) => isObject(part) && part['type'] !== 'step-start' && part['type'] !== 'reasoning',
  );
  return error['name'] !== 'MessageAbortedError' || !hasWork;
}

function originOf(info: JsonObject, usage: Usage | undefined, { place }: MessageContext): Origin {
  return { place, timestamp: createdAt(info), responseId: undefined, usage };
}

const createdAt = ({ time }: JsonObject) => (isObject(time) ? timestampOf(time['created']) : undefined);

function readUsage(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const cache = isObject(tokens['cache']) ? tokens['cache'] : {};
  return usageOf({ ...cache, ...tokens }, ['input', 'read', 'write'], ['output', 'reasoning']);
}
