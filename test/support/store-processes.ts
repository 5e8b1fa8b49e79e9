import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { lookupOf } from './store-records.ts';
import { type RoundReport, recordOfWrite, type WorkerTask } from './store-tasks.ts';

async function startWorker(address: string, owner: string): Promise<ChildProcess> {
  const worker = fork(join(import.meta.dirname, 'store-worker.ts'), [address, owner]);
  await answerOf(worker);
  return worker;
}

/** The next message. A process that ends instead is an error. */
async function answerOf(worker: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const end = (code: number | null) => ended.abort(new Error(`a process with a store ended with ${code}`));
  worker.once('exit', end);
  try {
    const [message] = await once(worker, 'message', { signal: ended.signal });
    return message;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    worker.off('exit', end);
  }
}

async function assign(worker: ChildProcess, task: WorkerTask): Promise<unknown> {
  worker.send(task);
  return answerOf(worker);
}

/** Several processes commit the same chains at the same time. What each of them saw. */
export async function contendedRounds(
  address: string,
  processes: number,
  rounds: number,
): Promise<readonly (readonly RoundReport[])[]> {
  const workers = await Promise.all(
    Array.from({ length: processes }, (_, index) => startWorker(address, `process ${index}`)),
  );
  return Promise.all(
    workers.map(
      async (worker) => (await assign(worker, { name: 'contend', value: rounds })) as RoundReport[],
    ),
  );
}

/** What is wrong with contended rounds; nothing when exactly one process committed each, under a fence that grew. */
export function wrongRounds(reports: readonly (readonly RoundReport[])[], rounds: number): readonly string[] {
  const wrong: string[] = [];
  const all = reports.flat();
  const fences = new Set(all.map(({ fence }) => fence));
  if (fences.size !== all.length) wrong.push('a fence was given twice');
  if (all.some(({ late }) => late !== 'fenced')) wrong.push('a released lease could write');
  let last = 0;
  for (let round = 0; round < rounds; round++) {
    const ofRound = all.filter((report) => report.round === round);
    const committed = ofRound.filter(({ result }) => result === 'committed');
    const known = ofRound.filter(({ result }) => result === 'known');
    if (committed.length !== 1 || known.length !== ofRound.length - 1) wrong.push(`round ${round}`);
    const fence = committed[0]?.fence ?? 0;
    if (fence <= last) wrong.push(`the fence of round ${round} did not grow`);
    last = fence;
  }
  return wrong;
}

/** A process stands still longer than its lease, somebody else takes it, and then it goes on to commit. */
export async function commitAfterStanding(address: string): Promise<unknown> {
  const milliseconds = 150;
  const worker = await startWorker(address, 'late');
  await assign(worker, { name: 'stall', value: milliseconds });
  worker.kill('SIGSTOP');
  const store = openStore(address);
  const request = { tenant: 'tenant', key: 'conversation', owner: 'next', milliseconds: 60_000 };
  while ((await store.acquire(request)) === undefined) await delay(10);
  worker.kill('SIGCONT');
  worker.send('go on');
  const result = await answerOf(worker);
  await store.close();
  return result;
}

/** The result of killing writers again and again. */
export interface KillReport {
  readonly kills: number;
  /** Writes that were acknowledged before a kill. */
  readonly acknowledged: number;
  /** Writes that were there although the process died before it could say so. */
  readonly unsaid: number;
  readonly wrong: readonly string[];
}

/** Kills a writing process at a random moment, looks at everything, and goes on. */
export async function killWriters(address: string, kills: number, random: () => number): Promise<KillReport> {
  const wrong: string[] = [];
  let next = 0;
  let acknowledged = 0;
  let unsaid = 0;
  for (let kill = 0; kill < kills; kill++) {
    const worker = await startWorker(address, 'writer');
    const said = await killDuringWrites(worker, {
      first: next,
      after: Math.floor(random() * 8),
      wait: random() * 4,
    });
    acknowledged += said - next;
    const store = openStore(address);
    const found = await firstMissing(store, next, wrong);
    if (found < said) wrong.push(`record ${found} was acknowledged and is gone after kill ${kill}`);
    if ((await store.verify()).length > 0) wrong.push(`a record is damaged after kill ${kill}`);
    await store.close();
    unsaid += Math.max(0, found - said);
    next = Math.max(found, said);
  }
  const store = openStore(address);
  if ((await firstMissing(store, 0, wrong)) !== next) wrong.push('a record of before is gone');
  await store.close();
  return { kills, acknowledged, unsaid, wrong };
}

/** The number after the last write that was acknowledged. */
async function killDuringWrites(
  worker: ChildProcess,
  { first, after, wait }: { readonly first: number; readonly after: number; readonly wait: number },
): Promise<number> {
  let said = first;
  worker.on('message', (index: number) => {
    said = index + 1;
  });
  worker.send({ name: 'write', value: first } satisfies WorkerTask);
  const closed = once(worker, 'close');
  while (said < first + after && worker.exitCode === null) await delay(1);
  await delay(wait);
  worker.kill('SIGKILL');
  await closed;
  return said;
}

/** Reads on until a record is missing, and tells those that are not what was written. */
async function firstMissing(store: Store, first: number, wrong: string[]): Promise<number> {
  for (let index = first; ; index++) {
    const { checkpoint, spans } = recordOfWrite(index);
    const found = await store.find(lookupOf(checkpoint));
    const span = await store.recall({ tenant: 'tenant', handle: `rf:${index}` });
    if (found === undefined && span === undefined) return index;
    if (!isDeepStrictEqual(found, checkpoint) || !isDeepStrictEqual(span, spans[0])) {
      wrong.push(`record ${index} is not what was written`);
    }
  }
}
