import type { Checkpoint } from '../core/checkpoint.ts';
import type { ArchivedSpan, ConversationKey, StoredConversation } from '../core/store.ts';
import { type CheckpointPlace, isFault, type RecordCodec } from './record/codec.ts';
import { nameInColumn } from './record/name.ts';
import type { SpanPlace } from './record/payload.ts';

interface StoredCheckpoint {
  readonly place: CheckpointPlace;
  readonly record: Buffer;
}

interface StoredSpan {
  readonly place: SpanPlace;
  readonly record: Buffer;
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
  for (const { record } of entry.checkpoints.values()) bytes += record.length;
  for (const { record } of entry.spans.values()) bytes += record.length;
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

/** Memory does not fail, so a record that cannot be read is a mistake of ours. */
export function readStoredCheckpoint(codec: RecordCodec, { place, record }: StoredCheckpoint): Checkpoint {
  const found = codec.readCheckpoint(place, record);
  if (isFault(found)) throw new TypeError('a checkpoint in memory cannot be read');
  return found;
}

/** The same for a span, whose bytes are the reader's own. */
export function readStoredSpan(codec: RecordCodec, { place, record }: StoredSpan): ArchivedSpan {
  const found = codec.readSpan(place, Buffer.from(record));
  if (isFault(found)) throw new TypeError('a span in memory cannot be read');
  return found;
}
