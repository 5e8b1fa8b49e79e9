import type { Place } from '../../conversation/errors.ts';
import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Usage } from '../../conversation/message.ts';
import { codexCharge, type RecordedCharge } from '../charges.ts';
import type { JsonEntry } from '../input/json-values.ts';
import { count, fillNote, listCounts, originAt } from '../records.ts';
import type {
  Origin,
  RecordedCompaction,
  Reject,
  Segment,
  SessionFacts,
  Transcript,
  TranscriptFold,
  TranscriptReader,
} from '../transcript.ts';
import { isWholeItem, itemMaker, opensUserTurn, userMessage } from './items.ts';

/**
 * Rollout files of Codex, as OpenAI Responses items: the enveloped layout (`timestamp`, `type`, `payload`) and the
 * bare one of August 2025. Only response items count; the events that repeat them for the screen do not.
 */
export const codex: TranscriptReader = {
  name: 'codex',
  product: 'Codex',
  summary: 'Codex rollout (JSONL)',
  location: '~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl',
  recognise: (sample) => sample.some(({ value }) => isRolloutRecord(value)),
  open: openRollout,
};

interface Rollout {
  readonly reject: Reject;
  readonly closed: Segment[];
  current: OpenSegment;
  model: string | undefined;
  windowTokens: number | undefined;
  instructions: string | undefined;
  session: SessionFacts | undefined;
  /** Size of the context at the last response, as reported. */
  contextTokens: number | undefined;
  rolledBackTurns: number;
  readonly charges: RecordedCharge[];
  /** What had been counted in all with the last charge: events repeat the usage of the response before them. */
  countedInAll: string;
  /** What a fork has copied was counted by its parent: everything written with the header of a fork, in milliseconds. */
  copiedUntilMs: number;
  readonly unknownItems: Map<string, number>;
  readonly unknownRecords: Map<string, number>;
}

interface RolloutRecord {
  readonly type: string;
  readonly payload: JsonObject;
  readonly timestamp: string | undefined;
  readonly place: Place;
}

const recordHandlers = new Map<string, (rollout: Rollout, record: RolloutRecord) => void>([
  ['session_meta', addSessionMeta],
  ['response_item', addResponseItem],
  ['compacted', addCompaction],
  ['turn_context', addTurnContext],
  ['event_msg', addEvent],
]);

type EventHandler = (rollout: Rollout, payload: JsonObject, timestamp: string | undefined) => void;

/** Every other event repeats an item or is meant for the screen. An aborted turn leaves its calls unanswered. */
const eventHandlers = new Map<string, EventHandler>([
  ['task_started', addWindow],
  ['turn_started', addWindow],
  ['token_count', addTokenCount],
  ['thread_rolled_back', addRollBack],
]);

/** Records that never hold a part of the conversation. */
const bookkeeping = new Set(['state', 'world_state', 'inter_agent_communication', 'token_usage_record']);

function isRolloutRecord(value: unknown): boolean {
  if (!isObject(value)) return false;
  const type = asString(value['type']);
  if (type === undefined) return typeof value['record_type'] === 'string';
  return recordHandlers.has(type) && isObject(value['payload']);
}

function openRollout(reject: Reject): TranscriptFold {
  const rollout: Rollout = {
    reject,
    closed: [],
    current: openSegment(undefined),
    model: undefined,
    windowTokens: undefined,
    instructions: undefined,
    session: undefined,
    contextTokens: undefined,
    rolledBackTurns: 0,
    charges: [],
    countedInAll: '',
    copiedUntilMs: Number.NEGATIVE_INFINITY,
    unknownItems: new Map(),
    unknownRecords: new Map(),
  };
  return {
    add(entry) {
      addEntry(rollout, entry);
      return [];
    },
    end: () => finish(rollout),
  };
}

function addEntry(rollout: Rollout, { value, place }: JsonEntry): void {
  const record = isObject(value) ? readRecord(value, place) : 'a record must be an object';
  if (typeof record === 'string') {
    rollout.reject(place, record);
    return;
  }
  const handler = recordHandlers.get(record.type);
  if (handler !== undefined) handler(rollout, record);
  else if (!bookkeeping.has(record.type)) count(rollout.unknownRecords, record.type);
}

/** The record in the enveloped layout, or why it is none. */
function readRecord(value: JsonObject, place: Place): RolloutRecord | string {
  const type = asString(value['type']);
  const timestamp = asString(value['timestamp']);
  const { payload } = value;
  if (type !== undefined && isObject(payload)) return { type, payload, timestamp, place };
  if (type !== undefined && (recordHandlers.has(type) || Object.hasOwn(value, 'payload'))) {
    return `the payload of a ${type} record must be an object`;
  }
  // The bare layout has the items themselves as records, after one header with id, time and instructions.
  if (type !== undefined) return { type: 'response_item', payload: value, timestamp, place };
  if (typeof value['record_type'] === 'string') return { type: 'state', payload: value, timestamp, place };
  if (typeof value['id'] !== 'string' || timestamp === undefined) return 'a record must have a type';
  const header = { id: value['id'], base_instructions: value['instructions'], git: value['git'] };
  return { type: 'session_meta', payload: header, timestamp, place };
}

/** No response comes sooner after a fork than this. */
const COPYING_MS = 1000;

function addSessionMeta(rollout: Rollout, { payload, timestamp = '' }: RolloutRecord): void {
  const isFork = rollout.session === undefined && typeof payload['forked_from_id'] === 'string';
  if (isFork) rollout.copiedUntilMs = Date.parse(timestamp) + COPYING_MS;
  const recorded = payload['base_instructions'];
  // A fork carries its parent's header after its own, a resumed session repeats it: the first one counts.
  rollout.instructions ??= isObject(recorded) ? asString(recorded['text']) : asString(recorded);
  const { id, cwd, cli_version: version, model_provider: provider, git } = payload;
  rollout.session ??= {
    id: asString(id),
    folder: asString(cwd),
    version: asString(version),
    branch: isObject(git) ? asString(git['branch']) : undefined,
    provider: asString(provider),
  };
}

function addTurnContext(rollout: Rollout, { payload }: RolloutRecord): void {
  rollout.model = asString(payload['model']) ?? rollout.model;
}

function addResponseItem(rollout: Rollout, { payload, timestamp, place }: RolloutRecord): void {
  if (!isSound(rollout, payload, place)) return;
  addItem(rollout.current, payload, originAt(place, timestamp));
}

/** Whether the value is an item that a request takes; what is none is reported or counted. */
function isSound(rollout: Rollout, item: unknown, place: Place): item is JsonObject {
  if (!isObject(item) || !isWholeItem(item)) {
    rollout.reject(place, 'not a response item');
    return false;
  }
  if (itemMaker(item) !== undefined) return true;
  count(rollout.unknownItems, asString(item['type']) ?? '');
  return false;
}

function addCompaction(rollout: Rollout, record: RolloutRecord): void {
  const { place, timestamp } = record;
  const summary = asString(record.payload['message']) || undefined;
  const carried = replacementOf(rollout, record, summary);
  if (carried === undefined) {
    rollout.reject(place, 'a compaction must have a replacement history or a message');
    return;
  }
  // A file that begins with a compaction has nothing in front of it.
  if (rollout.current.items.length > 0 || rollout.current.opening !== undefined)
    rollout.closed.push(closeSegment(rollout.current, rollout.instructions));
  rollout.current = openSegment({
    trigger: undefined,
    tokensBefore: rollout.contextTokens,
    tokensAfter: undefined,
    summary,
    carried: carried.length,
  });
  for (const item of carried) {
    addItem(rollout.current, item, originAt(place, timestamp));
  }
}

/** What stands in the place of the history from now on. */
function replacementOf(
  rollout: Rollout,
  { payload, place }: RolloutRecord,
  summary: string | undefined,
): JsonObject[] | undefined {
  const history: unknown = payload['replacement_history'];
  if (!Array.isArray(history)) return summary === undefined ? undefined : [userMessage(summary)];
  return history.filter((item: unknown, index) =>
    isSound(rollout, item, { ...place, path: `payload.replacement_history.${index}` }),
  );
}

function addEvent(rollout: Rollout, { payload, timestamp }: RolloutRecord): void {
  eventHandlers.get(asString(payload['type']) ?? '')?.(rollout, payload, timestamp);
}

/** The window may change with the model in the middle of a session: the newest word counts. */
function addWindow(rollout: Rollout, { model_context_window: tokens }: JsonObject): void {
  rollout.windowTokens = asCount(tokens) || rollout.windowTokens;
}

function addTokenCount(rollout: Rollout, { info }: JsonObject, timestamp: string | undefined): void {
  if (isObject(info)) {
    addWindow(rollout, info);
    addCharge(rollout, info, timestamp);
  }
  const last = isObject(info) ? info['last_token_usage'] : undefined;
  if (!isObject(last)) return;
  const promptTokens = asCount(last['input_tokens']);
  const outputTokens = asCount(last['output_tokens']);
  const { current } = rollout;
  if (promptTokens > 0) {
    addUsage(current, { promptTokens, outputTokens });
    rollout.contextTokens = promptTokens + outputTokens;
  } else if (current.opening !== undefined && isFresh(current)) {
    // After a compaction the harness reports its own estimate of the new context, as a total without parts.
    const tokensAfter = asCount(last['total_tokens']) || undefined;
    current.opening = { ...current.opening, tokensAfter };
  }
}

function addCharge(rollout: Rollout, info: JsonObject, timestamp: string | undefined): void {
  const { total_token_usage: total, last_token_usage: last } = info;
  const countedInAll = JSON.stringify(total ?? null);
  if (!isObject(last) || countedInAll === rollout.countedInAll) return;
  rollout.countedInAll = countedInAll;
  if (Date.parse(timestamp ?? '') <= rollout.copiedUntilMs) return;
  const charge = codexCharge(last, rollout.model, timestamp);
  if (charge !== undefined) rollout.charges.push(charge);
}

function addRollBack(rollout: Rollout, payload: JsonObject): void {
  rollout.rolledBackTurns += rollBack(rollout.current, Math.trunc(asCount(payload['num_turns'])));
}

function* finish(rollout: Rollout): Iterable<Transcript> {
  const segments = [...rollout.closed, closeSegment(rollout.current, rollout.instructions)];
  if (segments.every(({ origins }) => origins.length === 0)) return;
  yield {
    reader: codex.name,
    format: 'openai-responses',
    title: 'main',
    kind: 'main',
    model: rollout.model,
    windowTokens: rollout.windowTokens,
    segments,
    notes: notesOf(rollout),
    session: rollout.session,
    charges: rollout.charges,
  };
}

function notesOf(rollout: Rollout): string[] {
  const notes: string[] = [];
  const turns = rollout.rolledBackTurns;
  if (turns > 0) notes.push(fillNote('{n} turn{s} rolled back by the user left out', turns));
  if (rollout.unknownItems.size > 0)
    notes.push(`items left out that no request takes: ${listCounts(rollout.unknownItems)}`);
  if (rollout.unknownRecords.size > 0)
    notes.push(`records of unknown type left out: ${listCounts(rollout.unknownRecords)}`);
  return notes;
}

/** A segment that still grows. */
interface OpenSegment {
  readonly items: JsonObject[];
  readonly origins: Origin[];
  opening: RecordedCompaction | undefined;
  /** Indexes of the messages that opened a user turn. */
  readonly turnStarts: number[];
  /** Items before this index have their usage or will never have one. */
  usageSettledUntil: number;
}

/** A new segment; `opening` is the compaction it begins with. */
function openSegment(opening: RecordedCompaction | undefined): OpenSegment {
  return { items: [], origins: [], opening, turnStarts: [], usageSettledUntil: opening?.carried ?? 0 };
}

/** Puts an item at the end of the segment. */
function addItem(segment: OpenSegment, item: JsonObject, origin: Origin): void {
  if (opensUserTurn(item)) segment.turnStarts.push(segment.items.length);
  segment.items.push(item);
  segment.origins.push(origin);
}

/** Gives the usage to the last item of the response before it; does nothing when no response is waiting for one. */
function addUsage(segment: OpenSegment, usage: Usage): void {
  const { items, origins } = segment;
  for (let index = items.length - 1; index >= segment.usageSettledUntil; index--) {
    const item = items[index];
    const origin = origins[index];
    if (item === undefined || origin === undefined || itemMaker(item) !== 'model') continue;
    origins[index] = { ...origin, usage };
    break;
  }
  segment.usageSettledUntil = items.length;
}

/** Whether nothing has been said in the segment since its compaction. */
function isFresh({ items, opening }: OpenSegment): boolean {
  return opening !== undefined && items.length === opening.carried;
}

/**
 * Removes the last user turns, as many as there are: everything from the message on that opened the oldest of them.
 * Answers with the number of turns removed.
 */
function rollBack(segment: OpenSegment, turns: number): number {
  const { turnStarts } = segment;
  const removed = turnStarts.splice(Math.max(0, turnStarts.length - turns));
  const cut = removed[0];
  if (cut === undefined) return 0;
  segment.items.length = cut;
  segment.origins.length = cut;
  segment.usageSettledUntil = Math.min(segment.usageSettledUntil, cut);
  const { opening } = segment;
  if (opening !== undefined) segment.opening = { ...opening, carried: Math.min(opening.carried, cut) };
  return removed.length;
}

/** The segment as it is; `instructions` go around its items where they are recorded. */
function closeSegment(segment: OpenSegment, instructions: string | undefined): Segment {
  const { items, origins, opening } = segment;
  return { body: instructions === undefined ? items : { instructions, input: items }, origins, opening };
}
