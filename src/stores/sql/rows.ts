import type { Checkpoint } from '../checkpoint.ts';
import { isFault, type RecordCodec } from '../record/codec.ts';
import { nameFromColumn } from '../record/name.ts';
import type { ArchivedSpan, ChainLink, StoreFault } from '../store.ts';
import type { SpanName } from './span-memory.ts';
import type { BigInteger } from './tables.ts';
import type { Work } from './work.ts';

/** A checkpoint as the statements give it. */
export interface CheckpointRow {
  readonly id: BigInteger;
  readonly tenant: string;
  readonly configuration: string;
  readonly link: string;
  readonly conversation: string;
  readonly body: Uint8Array;
}

/** A span as the statements give it to who has asked for it by its name. */
export interface FoundSpanRow {
  readonly place: BigInteger;
  readonly conversation: string;
  readonly body: Uint8Array;
}

/** A span as the other statements give it. */
export interface SpanRow extends FoundSpanRow {
  readonly tenant: string;
  readonly handle: string;
}

export function readCheckpointRow(codec: RecordCodec, row: CheckpointRow): Checkpoint | StoreFault {
  const place = {
    tenant: nameFromColumn(row.tenant),
    configuration: nameFromColumn(row.configuration),
    conversation: nameFromColumn(row.conversation),
    ...linkFromColumn(row.link),
  };
  return codec.readCheckpoint(place, bytesOf(row.body));
}

/** A link of a conversation's chain, from how it is stored. */
export function linkFromColumn(text: string): ChainLink {
  const link = nameFromColumn(text);
  const colon = link.indexOf(':');
  return { chain: link.slice(colon + 1), boundary: Number(link.slice(0, colon)) };
}

export function readSpanRow(codec: RecordCodec, row: SpanRow): ArchivedSpan | StoreFault {
  return readFoundSpan(
    codec,
    { tenant: nameFromColumn(row.tenant), handle: nameFromColumn(row.handle) },
    row,
  );
}

export function readFoundSpan(
  codec: RecordCodec,
  { tenant, handle }: SpanName,
  row: FoundSpanRow,
): ArchivedSpan | StoreFault {
  const conversation = nameFromColumn(row.conversation);
  return codec.readSpan({ tenant, conversation, handle, start: Number(row.place) }, bytesOf(row.body));
}

const NOTHING = new Uint8Array(0);

/** A damaged database may hold anything. */
function bytesOf(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : NOTHING;
}

/** The record, or undefined after its fault was told. */
export function served<Value extends Checkpoint | ArchivedSpan>(
  { report }: Pick<Work, 'report'>,
  value: Value | StoreFault,
): Value | undefined {
  if (!isFault(value)) return value;
  report(value);
  return undefined;
}
