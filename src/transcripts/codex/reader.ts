import type { Place } from '../../conversation/errors.ts';
import { asCount, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { BadInput, JsonEntry } from '../input/json-values.ts';
import type { Segment, Transcript, TranscriptFold, TranscriptReader } from '../transcript.ts';
import { isWholeItem, itemMaker, userMessage } from './items.ts';
import {
  addItem,
  addUsage,
  closeSegment,
  isFresh,
  type OpenSegment,
  openSegment,
  rollBack,
} from './segment.ts';

/**
 * Rollout files of Codex, as OpenAI Responses items: the enveloped layout (`timestamp`, `type`, `payload`) and the
 * bare one of August 2025. Only response items count; the events that repeat them for the screen do not.
 */
export const codex: TranscriptReader = {
  name: 'codex',
  summary: 'Codex rollout (JSONL)',
  location: '~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl',
  recognise: (sample) => sample.some(({ value }) => isRolloutRecord(value)),
  open: openRollout,
};

interface Rollout {
  readonly onBadInput: (bad: BadInput) => void;
  readonly closed: Segment[];
  current: OpenSegment;
  model: string | undefined;
  windowTokens: number | undefined;
  instructions: string | undefined;
  /** Size of the context at the last response, as reported. */
  contextTokens: number | undefined;
  rolledBackTurns: number;
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

/** Every other event repeats an item or is meant for the screen. An aborted turn leaves its calls unanswered. */
const eventHandlers = new Map<string, (rollout: Rollout, payload: JsonObject) => void>([
  ['task_started', addWindow],
  ['turn_started', addWindow],
  ['token_count', addTokenCount],
  ['thread_rolled_back', addRollBack],
]);

/** Records that never hold a part of the conversation. */
const bookkeeping = new Set(['state', 'world_state', 'inter_agent_communication']);

function isRolloutRecord(value: unknown): boolean {
  if (!isObject(value)) return false;
  const type = asString(value['type']);
  if (type === undefined) return typeof value['record_type'] === 'string';
  return recordHandlers.has(type) && isObject(value['payload']);
}

function openRollout(onBadInput: (bad: BadInput) => void): TranscriptFold {
  const rollout: Rollout = {
    onBadInput,
    closed: [],
    current: openSegment(undefined),
    model: undefined,
    windowTokens: undefined,
    instructions: undefined,
    contextTokens: undefined,
    rolledBackTurns: 0,
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
    rollout.onBadInput({ place, reason: record });
    return;
  }
  const handler = recordHandlers.get(record.type);
  if (handler !== undefined) handler(rollout, record);
  else if (!bookkeeping.has(record.type)) tally(rollout.unknownRecords, record.type);
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
  return { type: 'session_meta', payload: { base_instructions: value['instructions'] }, timestamp, place };
}

function addSessionMeta(rollout: Rollout, { payload }: RolloutRecord): void {
  const recorded = payload['base_instructions'];
  // A fork carries its parent's header after its own, a resumed session repeats it: the first one counts.
  rollout.instructions ??= isObject(recorded) ? asString(recorded['text']) : asString(recorded);
}

function addTurnContext(rollout: Rollout, { payload }: RolloutRecord): void {
  rollout.model = asString(payload['model']) ?? rollout.model;
}

function addResponseItem(rollout: Rollout, { payload, timestamp, place }: RolloutRecord): void {
  if (!isSound(rollout, payload, place)) return;
  addItem(rollout.current, payload, { place, timestamp, responseId: undefined, usage: undefined });
}

/** Whether the value is an item that a request takes; what is none is reported or counted. */
function isSound(rollout: Rollout, item: unknown, place: Place): item is JsonObject {
  if (!isObject(item) || !isWholeItem(item)) {
    rollout.onBadInput({ place, reason: 'not a response item' });
    return false;
  }
  if (itemMaker(item) !== undefined) return true;
  tally(rollout.unknownItems, asString(item['type']) ?? '');
  return false;
}

function addCompaction(rollout: Rollout, record: RolloutRecord): void {
  const { place, timestamp } = record;
  const summary = asString(record.payload['message']) || undefined;
  const carried = replacementOf(rollout, record, summary);
  if (carried === undefined) {
    rollout.onBadInput({ place, reason: 'a compaction must have a replacement history or a message' });
    return;
  }
  rollout.closed.push(closeSegment(rollout.current, rollout.instructions));
  rollout.current = openSegment({
    trigger: undefined,
    tokensBefore: rollout.contextTokens,
    tokensAfter: undefined,
    summary,
    carried: carried.length,
  });
  for (const item of carried) {
    addItem(rollout.current, item, { place, timestamp, responseId: undefined, usage: undefined });
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

function addEvent(rollout: Rollout, { payload }: RolloutRecord): void {
  eventHandlers.get(asString(payload['type']) ?? '')?.(rollout, payload);
}

/** The window may change with the model in the middle of a session: the newest word counts. */
function addWindow(rollout: Rollout, { model_context_window: tokens }: JsonObject): void {
  rollout.windowTokens = asCount(tokens) || rollout.windowTokens;
}

function addTokenCount(rollout: Rollout, { info }: JsonObject): void {
  if (isObject(info)) addWindow(rollout, info);
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
  };
}

function notesOf(rollout: Rollout): string[] {
  const notes: string[] = [];
  const turns = rollout.rolledBackTurns;
  if (turns > 0) notes.push(`${turns} ${turns === 1 ? 'turn' : 'turns'} rolled back by the user left out`);
  if (rollout.unknownItems.size > 0)
    notes.push(`items left out that no request takes: ${listOf(rollout.unknownItems)}`);
  if (rollout.unknownRecords.size > 0)
    notes.push(`records of unknown type left out: ${listOf(rollout.unknownRecords)}`);
  return notes;
}

function tally(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** `3 ghost_snapshot, 1 other` */
function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
}
