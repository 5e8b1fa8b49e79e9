import type { Checkpoint } from '../../core/checkpoint.ts';
import type { ArchivedSpan, StoreFault } from '../../core/store.ts';

/** What a record is called. No two records of a store share it, and a record found under another one is not served. */
export interface RecordIdentity {
  readonly kind: StoreFault['kind'];
  readonly tenant: string;
  readonly name: string;
}

/** A link of a conversation's chain as one text. */
export function linkText(link: { readonly chain: string; readonly boundary: number }): string {
  return `${link.boundary}:${link.chain}`;
}

/** The same prefix under the same configuration is the same record. */
export function checkpointIdentity(
  checkpoint: Pick<Checkpoint, 'tenant' | 'configuration' | 'chain' | 'boundary'>,
): RecordIdentity {
  return {
    kind: 'checkpoint',
    tenant: checkpoint.tenant,
    name: JSON.stringify([checkpoint.configuration, linkText(checkpoint)]),
  };
}

/** The same messages may leave a conversation from two places. */
export function spanIdentity(
  span: Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>,
): RecordIdentity {
  return {
    kind: 'span',
    tenant: span.tenant,
    name: JSON.stringify([span.conversation, span.handle, span.start]),
  };
}

/** The identity as bytes to be checked or sealed with the record. */
export function identityBytes({ kind, tenant, name }: RecordIdentity): Buffer {
  return Buffer.from(JSON.stringify([kind, tenant, name]));
}
