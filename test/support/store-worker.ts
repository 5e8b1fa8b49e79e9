/**
 * A process that uses a store, for tests that stop and kill it. Speaks with its parent over the channel of `fork`.
 *
 *     store-worker.ts ADDRESS OWNER
 */
import { once } from 'node:events';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { checkpointOf, spanOf } from './store-records.ts';
import { type RoundReport, recordOfRound, recordOfWrite, type WorkerTask } from './store-tasks.ts';

const LEASE_MS = 60_000;
const KEY = 'conversation';
const TENANT = 'tenant';
const [address = '', owner = ''] = process.argv.slice(2);
const store = openStore(address);

function tell(message: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

async function nextMessage(): Promise<unknown> {
  const [message] = await once(process, 'message');
  return message;
}

async function acquire(key: string, milliseconds: number) {
  for (;;) {
    const lease = await store.acquire({ tenant: TENANT, key, owner, milliseconds });
    if (lease !== undefined) return lease;
    await new Promise(setImmediate);
  }
}

/** Every round: take the lease, commit what all others want to commit as well, and try once more after giving it back. */
async function contend(rounds: number): Promise<RoundReport[]> {
  const reports: RoundReport[] = [];
  for (let round = 0; round < rounds; round++) {
    const checkpoint = recordOfRound(round);
    const lease = await acquire(KEY, LEASE_MS);
    const result = await store.commit({ checkpoint, spans: [], lease });
    await store.release(lease);
    const late = await store.commit({ checkpoint: recordOfRound(round + 1), spans: [], lease });
    reports.push({ round, result, fence: lease.fence, late });
  }
  return reports;
}

/** Takes a lease that runs out while the process stands still. */
async function stall(milliseconds: number): Promise<string> {
  const lease = await acquire(KEY, milliseconds);
  await tell('acquired');
  await nextMessage();
  return store.commit({ checkpoint: checkpointOf(), spans: [spanOf()], lease });
}

/** Commits one record after the other, and tells each that was acknowledged, until it is killed. */
async function writeForever(store: Store, first: number): Promise<never> {
  const lease = await acquire(KEY, LEASE_MS);
  for (let index = first; ; index++) {
    await store.commit({ ...recordOfWrite(index), lease });
    await tell(index);
  }
}

const tasks: { readonly [Name in WorkerTask['name']]: (value: number) => Promise<unknown> } = {
  contend,
  stall,
  write: (first) => writeForever(store, first),
};

await tell('ready');
const task = (await nextMessage()) as WorkerTask; // sent by our parent
await tell(await tasks[task.name](task.value));
await store.close();
process.disconnect();
