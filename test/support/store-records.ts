import { initialAutoCompactState } from '../../src/compaction/breaker.ts';
import type {
  ArchivedSpan,
  ChainLink,
  Checkpoint,
  CheckpointLookup,
  Lease,
  Store,
} from '../../src/stores/store.ts';

/** A checkpoint that says nothing but what a test needs. */
export function checkpointOf(changes: Partial<Checkpoint> = {}): Checkpoint {
  const boundary = changes.boundary ?? 4;
  return {
    version: 1,
    tenant: 'tenant',
    configuration: 'configuration',
    conversation: 'conversation',
    chain: `chain-${boundary}`,
    boundary,
    parts: [
      { from: 0, count: 1 },
      { raw: { role: 'user', content: `what happened before message ${boundary}` } },
    ],
    parent: undefined,
    receipt: {
      version: 1,
      strategy: 'summarize',
      messagesBefore: boundary,
      messagesAfter: 2,
      tokensBefore: 4000,
      tokensAfter: 400,
      runs: [{ fate: 'summarised', start: 1, end: boundary, tokens: 3900, handle: 'rf:1' }],
    },
    state: initialAutoCompactState,
    createdAt: 1_700_000_000_000,
    ...changes,
  };
}

/** A span that says nothing but what a test needs. */
export function spanOf(changes: Partial<ArchivedSpan> = {}): ArchivedSpan {
  const text = changes.text ?? 'the tests of the parser fail';
  return {
    tenant: 'tenant',
    conversation: 'conversation',
    handle: 'rf:1',
    start: 1,
    end: 4,
    body: new TextEncoder().encode(JSON.stringify([{ role: 'user', content: text }])),
    text,
    createdAt: 1_700_000_000_000,
    ...changes,
  };
}

/** A lease that nobody else holds. */
export async function leaseOf(store: Store, key = 'conversation', tenant = 'tenant'): Promise<Lease> {
  const lease = await store.acquire({ tenant, key, owner: 'test', milliseconds: 60_000 });
  if (lease === undefined) throw new Error(`the lease of ${key} is taken`);
  return lease;
}

/** Commits under a lease that is taken for it and released. */
export async function commitAlone(
  store: Store,
  checkpoint: Checkpoint,
  spans: readonly ArchivedSpan[] = [],
): Promise<void> {
  const lease = await leaseOf(store, checkpoint.conversation, checkpoint.tenant);
  const result = await store.commit({ checkpoint, spans, lease });
  if (result !== 'committed') throw new Error(`not committed but ${result}`);
  await store.release(lease);
}

/** What looks checkpoints up: a conversation of which all of them are true. */
export function lookupOf(...checkpoints: readonly Checkpoint[]): CheckpointLookup {
  const { tenant, configuration } = checkpoints[0] ?? checkpointOf();
  const conversations = [...new Set(checkpoints.map(({ conversation }) => conversation))];
  return { tenant, configuration, conversations, from: 1, to: 1e9, ...trueOf(checkpoints) };
}

/** That these links are true, and no others. */
export function trueOf(links: readonly ChainLink[]): Pick<CheckpointLookup, 'isTrue'> {
  return {
    isTrue: ({ chain, boundary }) => links.some((link) => link.chain === chain && link.boundary === boundary),
  };
}
