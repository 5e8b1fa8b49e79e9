import { realpathSync } from 'node:fs';
import type { HandleFor } from '../compaction/plan/receipt.ts';
import type { Conversation, Format } from '../conversation/format.ts';
import { hasToolCall, hasToolResult, type Message } from '../conversation/message.ts';
import { sha256 } from '../conversation/sha256.ts';
import { keptMessage, searchableText, spanHandle } from '../stores/spans.ts';
import type { ArchivedSpan, Store, StoreRecord } from '../stores/store.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { Transcript } from '../transcripts/transcript.ts';

/** Whose messages are kept, and under which conversation. */
export interface ArchiveKey {
  readonly tenant: string;
  readonly conversation: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** What a store calls a session: the same for every look at it, however much it has grown. */
export function sessionName({ reader, session, title, kind }: Transcript, file: string): string {
  const id = session?.id ?? (file === '-' ? file : realpathSync(file));
  return sha256(['session', reader, id, kind === 'main' ? 'main' : title].join('\n'));
}

/** The tenant whose records commands read when none is named: the only one of the store, else `default`. */
export async function tenantOf(store: Store, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const tenants = new Set((await store.list()).map(({ tenant }) => tenant));
  const [only] = tenants;
  return tenants.size === 1 && only !== undefined ? only : 'default';
}

/**
 * Everything that was said in a recording: an answer with the results of its calls is one span, and so is what the user says in
 * between. The same messages always give the same spans, so that a session that has grown adds only what is new. What waits for
 * its results is left for the next time.
 */
export function sessionSpans(
  { transcript, conversations }: Recording,
  key: ArchiveKey,
): readonly ArchivedSpan[] {
  let start = 0;
  return conversations.flatMap((conversation, index) => {
    const { messages, format } = conversation;
    const carried = transcript.segments[index]?.opening?.carried ?? 0;
    return unitsOf(messages.slice(carried)).map((unit) => {
      const span = spanOf(unit, start, format, key);
      start += unit.length;
      return span;
    });
  });
}

/** What is read together. */
function unitsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  const units: Message[][] = [];
  let last: Message | undefined;
  for (const message of messages) {
    const isAnswer = message.role === 'assistant' && last?.role === 'assistant';
    if (last !== undefined && (hasToolResult(message) || isAnswer)) units.at(-1)?.push(message);
    else units.push([message]);
    last = message;
  }
  const newest = units.at(-1) ?? [];
  return newest.some(hasToolCall) && !newest.some(hasToolResult) ? units.slice(0, -1) : units;
}

const encoder = new TextEncoder();

function spanOf(
  messages: readonly Message[],
  start: number,
  format: Format,
  { tenant, conversation, createdAt }: ArchiveKey,
): ArchivedSpan {
  const kept = messages.map(({ raw }) => keptMessage(sha256, raw));
  return {
    tenant,
    conversation,
    handle: spanHandle(sha256, conversation, kept),
    start,
    end: start + messages.length,
    body: encoder.encode(`[${kept.map(({ json }) => json).join(',')}]`),
    text: searchableText(messages.map(({ raw }) => format.readMessage(raw))),
    createdAt,
  };
}

/** Names what leaves a conversation in one run, and gives what has to be kept so that the names lead somewhere. */
export interface RunArchive {
  readonly handleFor: HandleFor;
  /** The spans whose names stand in what was made. */
  spansIn(made: unknown): readonly ArchivedSpan[];
}

/** Opens the archive of a run over this conversation. */
export function openRunArchive({ messages, format }: Conversation, key: ArchiveKey): RunArchive {
  const places = new Map(messages.map(({ raw }, index) => [raw, index]));
  const asked = new Map<string, ArchivedSpan>();
  return {
    handleFor(left) {
      const start = Math.min(...left.map(({ raw }) => places.get(raw) ?? 0));
      const span = spanOf(left, start, format, key);
      asked.set(span.handle, span);
      return span.handle;
    },
    spansIn(made) {
      const text = JSON.stringify(made);
      return [...asked.values()].filter(({ handle }) => text.includes(handle));
    },
  };
}

/** How many records one transaction takes at most, and how many bytes. */
const BATCH_RECORDS = 100;
const BATCH_BYTES = 8_000_000;

/** Puts records into a store, batch by batch; those that are there already stay as they are. */
export async function restoreAll(
  store: Store,
  records: Iterable<StoreRecord> | AsyncIterable<StoreRecord>,
): Promise<void> {
  let batch: StoreRecord[] = [];
  let bytes = 0;
  for await (const record of records) {
    batch.push(record);
    bytes += 'span' in record ? record.span.body.length : 0;
    if (batch.length < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
    await store.restore(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await store.restore(batch);
}
