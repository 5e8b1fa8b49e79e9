import type { Checkpoint } from '../checkpoint.ts';
import type { ArchivedSpan, StoreFault } from '../store.ts';
import type { Checksum } from './checksum.ts';
import { createEnvelope } from './envelope.ts';
import { checkpointIdentity, spanIdentity } from './identity.ts';
import { readCheckpoint, readSpan, type SpanPlace, writeCheckpoint, writeSpan } from './payload.ts';
import type { Seal } from './seal.ts';

/** Where a checkpoint was found: what it must say of itself. */
export type CheckpointPlace = Pick<
  Checkpoint,
  'tenant' | 'configuration' | 'conversation' | 'chain' | 'boundary'
>;

/** Checkpoints and spans as bytes, and back. What cannot be read back gives the reason. */
export interface RecordCodec {
  /** Whether nothing of the content may be written in the clear. */
  readonly isSealed: boolean;
  writeCheckpoint(checkpoint: Checkpoint): Buffer;
  readCheckpoint(place: CheckpointPlace, record: Uint8Array): Checkpoint | StoreFault;
  writeSpan(span: ArchivedSpan): Buffer;
  /** The span's body may be a view of the record, so that whoever gives the record away must not use it again. */
  readSpan(place: SpanPlace, record: Uint8Array): ArchivedSpan | StoreFault;
}

export function createRecordCodec(checksum: Checksum, seal?: Seal): RecordCodec {
  const envelope = createEnvelope(checksum, seal);

  return {
    isSealed: envelope.isSealed,
    writeCheckpoint: (checkpoint) =>
      envelope.close(checkpointIdentity(checkpoint), writeCheckpoint(checkpoint)),
    writeSpan: (span) => envelope.close(spanIdentity(span), writeSpan(span)),

    readCheckpoint(place, record) {
      const payload = envelope.open(checkpointIdentity(place), record);
      const found = typeof payload === 'string' ? payload : readCheckpoint(payload);
      const fault = { kind: 'checkpoint', tenant: place.tenant, name: place.chain } as const;
      if (typeof found === 'string') return { ...fault, reason: found };
      return found.conversation === place.conversation ? found : { ...fault, reason: 'damaged' };
    },

    readSpan(place, record) {
      const payload = envelope.open(spanIdentity(place), record);
      const found = typeof payload === 'string' ? payload : readSpan(place, payload);
      if (typeof found !== 'string') return found;
      return { kind: 'span', tenant: place.tenant, name: place.handle, reason: found };
    },
  };
}

/** Whether reading gave a fault instead of a record. */
export function isFault(value: Checkpoint | ArchivedSpan | StoreFault): value is StoreFault {
  return 'reason' in value;
}
