import type { Checkpoint } from '../checkpoint.ts';
import type { ArchivedSpan } from '../store.ts';

/** What a record is called: one that is found under another name is not served. */
export interface RecordIdentity {
  readonly tenant: string;
  /** Kind and names, the tenant's included, to be checked or sealed with the record. No two lists of names make one text. */
  readonly text: string;
}

/** A link of a conversation's chain as one text. */
export function linkText(link: { readonly chain: string; readonly boundary: number }): string {
  return `${link.boundary}:${link.chain}`;
}

/** The same prefix under the same configuration is the same record. */
export function checkpointIdentity(
  checkpoint: Pick<Checkpoint, 'tenant' | 'configuration' | 'chain' | 'boundary'>,
): RecordIdentity {
  const { tenant, configuration } = checkpoint;
  return { tenant, text: JSON.stringify(['checkpoint', tenant, configuration, linkText(checkpoint)]) };
}

/** The same messages may leave a conversation from two places. */
export function spanIdentity(
  span: Pick<ArchivedSpan, 'tenant' | 'conversation' | 'handle' | 'start'>,
): RecordIdentity {
  const { tenant, conversation, handle, start } = span;
  return { tenant, text: JSON.stringify(['span', tenant, conversation, handle, start]) };
}
