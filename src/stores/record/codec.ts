import type { Checkpoint } from '../../core/checkpoint.ts';
import type { ArchivedSpan, StoreFault } from '../../core/store.ts';
import type { StoreOptions } from '../options.ts';
import { createEnvelope } from './envelope.ts';
import { checkpointIdentity, type RecordIdentity, spanIdentity } from './identity.ts';
import { readCheckpoint, readSpan, writeCheckpoint, writeSpan } from './payload.ts';
import { createSeal } from './seal.ts';

/** Where a checkpoint was found: what it must say of itself. */
export type CheckpointPlace = Pick<
  Checkpoint,
  'tenant' | 'configuration' | 'conversation' | 'chain' | 'boundary'
>;

/** Where a span was found. */
export type SpanPlace = Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>;

/** Checkpoints and spans as bytes, and back. What cannot be read back gives the reason. */
export interface RecordCodec {
  /** Whether nothing of the content may be written in the clear. */
  readonly isSealed: boolean;
  writeCheckpoint(checkpoint: Checkpoint): Uint8Array;
  readCheckpoint(place: CheckpointPlace, record: Uint8Array): Checkpoint | StoreFault;
  writeSpan(span: ArchivedSpan): Uint8Array;
  readSpan(place: SpanPlace, record: Uint8Array): ArchivedSpan | StoreFault;
}

/** @throws `usage` when the secret is too short */
export function createRecordCodec(secret: StoreOptions['secret']): RecordCodec {
  const envelope = createEnvelope(secret === undefined ? undefined : createSeal(secret));

  function read<Value extends object>(
    identity: RecordIdentity,
    record: Uint8Array,
    readPayload: (payload: Uint8Array) => Value | StoreFault['reason'],
  ): Value | StoreFault['reason'] {
    const payload = envelope.open(identity, record);
    return typeof payload === 'string' ? payload : readPayload(payload);
  }

  return {
    isSealed: envelope.isSealed,
    writeCheckpoint: (checkpoint) =>
      envelope.close(checkpointIdentity(checkpoint), writeCheckpoint(checkpoint)),
    writeSpan: (span) => envelope.close(spanIdentity(span), writeSpan(span)),

    readCheckpoint(place, record) {
      const found = read(checkpointIdentity(place), record, readCheckpoint);
      const fault = { kind: 'checkpoint', tenant: place.tenant, name: place.chain } as const;
      if (typeof found === 'string') return { ...fault, reason: found };
      return found.conversation === place.conversation ? found : { ...fault, reason: 'damaged' };
    },

    readSpan(place, record) {
      const found = read(spanIdentity(place), record, readSpan);
      const fault = { kind: 'span', tenant: place.tenant, name: place.handle } as const;
      return typeof found === 'string' ? { ...fault, reason: found } : found;
    },
  };
}

/** Whether reading gave a fault instead of a record. */
export function isFault(value: Checkpoint | ArchivedSpan | StoreFault): value is StoreFault {
  return 'reason' in value;
}
