import type { Checkpoint } from './checkpoint.ts';
import type { CheckpointPlace } from './record/codec.ts';
import { ENVELOPE_ROOM } from './record/envelope.ts';
import { nameInColumn } from './record/name.ts';
import { readCheckpoint, readSpan, type SpanPlace, writeCheckpoint, writeSpan } from './record/payload.ts';
import type { ArchivedSpan, ConversationKey, StoredConversation } from './store.ts';

/** As bytes, so that nobody can change what is kept. Memory needs no envelope. */
interface StoredCheckpoint {
  readonly place: CheckpointPlace;
  readonly payload: Buffer;
}

interface StoredSpan {
  readonly place: SpanPlace;
  readonly payload: Buffer;
}

/** Everything that is kept of one conversation. */
export interface ConversationEntry extends ConversationKey {
  createdAt: number;
  usedAt: number;
  /** Leases with a smaller fence may not write. */
  forgottenFence: number;
  readonly checkpoints: Map<string, StoredCheckpoint>;
  readonly spans: Map<string, StoredSpan>;
}

/** A text that no other list of names makes. Refuses what other stores refuse. */
export function keyOf(...names: readonly string[]): string {
  return JSON.stringify(names.map(nameInColumn));
}

/** Number of its records. */
export function recordCount(entry: ConversationEntry): number {
  return entry.checkpoints.size + entry.spans.size;
}

/** The entry as a listing shows it. */
export function describeEntry(entry: ConversationEntry): StoredConversation {
  let bytes = 0;
  for (const { payload } of entry.checkpoints.values()) bytes += payload.length;
  for (const { payload } of entry.spans.values()) bytes += payload.length;
  return {
    tenant: entry.tenant,
    conversation: entry.conversation,
    checkpoints: entry.checkpoints.size,
    spans: entry.spans.size,
    bytes,
    createdAt: entry.createdAt,
    usedAt: entry.usedAt,
  };
}

export function storedCheckpoint(checkpoint: Checkpoint): StoredCheckpoint {
  const { tenant, configuration, conversation, chain, boundary } = checkpoint;
  const place = { tenant, configuration, conversation, chain, boundary };
  return { place, payload: writeCheckpoint(checkpoint).subarray(ENVELOPE_ROOM) };
}

export function storedSpan(span: ArchivedSpan): StoredSpan {
  const { tenant, conversation, handle, start } = span;
  return { place: { tenant, conversation, handle, start }, payload: writeSpan(span).subarray(ENVELOPE_ROOM) };
}

/** Memory does not fail, so a record that cannot be read is a mistake of ours. */
export function readStoredCheckpoint({ payload }: StoredCheckpoint): Checkpoint {
  const found = readCheckpoint(payload);
  if (typeof found === 'string') throw new TypeError('a checkpoint in memory cannot be read');
  return found;
}

/** The same for a span, whose bytes are the reader's own. */
export function readStoredSpan({ place, payload }: StoredSpan): ArchivedSpan {
  const found = readSpan(place, Buffer.from(payload));
  if (typeof found === 'string') throw new TypeError('a span in memory cannot be read');
  return found;
}
