import { RoundfoldError } from '../../conversation/errors.ts';
import { isObject } from '../../conversation/json.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { ArchivedSpan, Commit, StoreRecord } from '../store.ts';
import { linkText } from './identity.ts';
import { nameInColumn } from './name.ts';

/** Whether a value has the shape of a checkpoint. The one check for what is written, restored and read back. */
export function isCheckpoint(value: unknown): value is Checkpoint {
  if (!isObject(value)) return false;
  const { version, tenant, configuration, conversation, chain, boundary, isWhole, parts, parent, receipt } =
    value;
  return (
    version === 1 &&
    typeof tenant === 'string' &&
    typeof configuration === 'string' &&
    typeof conversation === 'string' &&
    typeof chain === 'string' &&
    isPlace(boundary) &&
    (isWhole === undefined || typeof isWhole === 'boolean') &&
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
    if ('checkpoint' in record) admitCheckpoint(record.checkpoint);
    else admitSpan(record.span);
  }
}

function admitCheckpoint(checkpoint: Checkpoint): void {
  if (!isCheckpoint(checkpoint)) throw malformed();
  nameInColumn(checkpoint.tenant);
  nameInColumn(checkpoint.conversation);
  nameInColumn(checkpoint.configuration);
  nameInColumn(linkText(checkpoint));
}

function admitSpan(span: ArchivedSpan): void {
  if (!isSpan(span)) throw malformed();
  nameInColumn(span.tenant);
  nameInColumn(span.conversation);
  nameInColumn(span.handle);
}

function malformed(): RoundfoldError {
  return new RoundfoldError('usage', 'the record is neither a checkpoint nor a span of version 1', {
    remedy: 'Restore only what an export of this version has written.',
  });
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
