/** What a record must look like to be kept, where it stands, and how its names stand in a database. */
import { RoundfoldError } from '../conversation/errors.ts';
import { isObject } from '../conversation/json.ts';
import type { ArchivedSpan, Checkpoint, Commit, StoreFault, StoreRecord } from './store.ts';

/** Several names make an index entry, and databases bound those. */
const MAXIMUM_NAME_BYTES = 256;

/**
 * A name as it stands in a column: the text itself, with escapes for what databases do not keep (NUL, half surrogates).
 * Different names stay different.
 * @throws `usage` when it is too long
 */
export function nameInColumn(name: string): string {
  const column = JSON.stringify(name).slice(1, -1);
  if (Buffer.byteLength(column) > MAXIMUM_NAME_BYTES) {
    throw new RoundfoldError('usage', `a name in a store has at most ${MAXIMUM_NAME_BYTES} bytes`, {
      remedy: 'Use a hash of the name.',
    });
  }
  return column;
}

/** The name that `nameInColumn` was given. */
export function nameFromColumn(column: string): string {
  // Somebody else may have changed the column: what is no escaped text is its own name.
  try {
    return String(JSON.parse(`"${column}"`));
  } catch {
    return column;
  }
}

/** Whether a value has the shape of a checkpoint. The one check for what is written, restored and read back. */
export function isCheckpoint(value: unknown): value is Checkpoint {
  if (!isObject(value)) return false;
  const { version, tenant, configuration, conversation, chain, boundary, parts, parent, receipt } = value;
  return (
    version === 1 &&
    typeof tenant === 'string' &&
    typeof configuration === 'string' &&
    typeof conversation === 'string' &&
    typeof chain === 'string' &&
    isPlace(boundary) &&
    Array.isArray(parts) &&
    parts.every(isViewPart) &&
    (parent === undefined || typeof parent === 'string') &&
    isObject(receipt) &&
    isObject(value['state']) &&
    isTime(value['createdAt'])
  );
}

/** Whether a value has the shape of an archived span. */
export function isSpan(value: unknown): value is ArchivedSpan {
  if (!isObject(value)) return false;
  const { tenant, conversation, handle, start, end, body, text, createdAt } = value;
  return (
    typeof tenant === 'string' &&
    typeof conversation === 'string' &&
    typeof handle === 'string' &&
    typeof text === 'string' &&
    isPlace(start) &&
    isPlace(end) &&
    body instanceof Uint8Array &&
    isTime(createdAt)
  );
}

/** @throws `usage` when a record could not be read back, or would belong to somebody else than the lease */
export function admitCommit({ checkpoint, spans, lease }: Commit): void {
  admitRecords([{ checkpoint }, ...spans.map((span) => ({ span }))]);
  const { tenant, conversation } = checkpoint;
  const isOneOwner = spans.every((span) => span.tenant === tenant && span.conversation === conversation);
  if (lease.tenant !== tenant || !isOneOwner) {
    throw new RoundfoldError('usage', 'a commit holds records of one tenant and one conversation', {
      remedy: 'Take the lease and the spans from the conversation of the checkpoint.',
    });
  }
}

/** @throws `usage` when a record could not be read back, or has a name that is too long */
export function admitRecords(records: readonly StoreRecord[]): void {
  for (const record of records) {
    if (!('checkpoint' in record ? isCheckpoint(record.checkpoint) : isSpan(record.span))) {
      throw new RoundfoldError('usage', 'the record is neither a checkpoint nor a span of version 1', {
        remedy: 'Restore only what an export of this version has written.',
      });
    }
    const { tenant, conversation, scope, name } = placeOf(record);
    for (const each of [tenant, conversation, scope, name]) nameInColumn(each);
  }
}

/** Where a record stands. No two records have the same place. */
export interface RecordPlace {
  readonly kind: StoreFault['kind'];
  readonly tenant: string;
  readonly conversation: string;
  /** The configuration of a checkpoint; empty for a span. */
  readonly scope: string;
  /** The chain of a checkpoint, or the handle of a span. */
  readonly name: string;
  /** The boundary of a checkpoint, or the start of a span: the same messages may leave a conversation from two places. */
  readonly position: number;
}

export function placeOf(record: StoreRecord): RecordPlace {
  if ('checkpoint' in record) {
    const { tenant, conversation, configuration, chain, boundary } = record.checkpoint;
    return {
      kind: 'checkpoint',
      tenant,
      conversation,
      scope: configuration,
      name: chain,
      position: boundary,
    };
  }
  const { tenant, conversation, handle, start } = record.span;
  return { kind: 'span', tenant, conversation, scope: '', name: handle, position: start };
}

function isViewPart(part: unknown): boolean {
  return isObject(part) && ('raw' in part || (isPlace(part['from']) && isPlace(part['count'])));
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0; // the check before has seen a number
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

/** The checkpoints among records. */
export function checkpointsIn(records: readonly StoreRecord[]): Checkpoint[] {
  return records.flatMap((record) => ('checkpoint' in record ? record.checkpoint : []));
}

/** The spans among records. */
export function spansIn(records: readonly StoreRecord[]): ArchivedSpan[] {
  return records.flatMap((record) => ('span' in record ? record.span : []));
}
