import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { BATCH, type BatchResult, type BatchTask, type Failure, keyOf } from './request-batch.ts';
import type { CaseFilter } from './request-cases.ts';
import { properties as allProperties, type PropertyName } from './request-judge.ts';

export interface RequestRun {
  readonly bodies: number;
  readonly seed: number;
  readonly filter: CaseFilter;
  readonly properties?: readonly PropertyName[] | undefined;
  /** Told after every batch. */
  readonly onProgress?: ((totals: RequestTotals) => void) | undefined;
}

/** What has been seen so far. */
export interface RequestTotals {
  readonly bodies: number;
  readonly broken: number;
  /** Strategies that changed a request. */
  readonly acted: ReadonlySet<string>;
  /** By format and property; those that always held are missing. */
  readonly failures: ReadonlyMap<string, Failure>;
}

/** Runs so many bodies on all cores. Batch n has the n-th seed, whichever thread runs it. */
export async function runRequests(run: RequestRun): Promise<RequestTotals> {
  const { bodies, seed, filter, properties = propertyNames, onProgress } = run;
  const failures = new Map<string, Failure>();
  const acted = new Set<string>();
  const totals = { bodies: 0, broken: 0, acted, failures };
  const shown = new Set<string>();
  const batches = Math.ceil(bodies / BATCH);
  let next = 0;
  const work = async () => {
    const worker = new Worker(new URL('./request-worker.ts', import.meta.url));
    try {
      for (let batch = next++; batch < batches; batch = next++) {
        const size = Math.min(BATCH, bodies - batch * BATCH);
        const task = { seed: seed + batch, bodies: size, filter, properties, shown: [...shown] };
        const result = await ask(worker, task);
        totals.bodies += result.bodies;
        totals.broken += result.broken;
        for (const name of result.acted) acted.add(name);
        for (const failure of result.failures) addFailure(failures, failure);
        for (const failure of result.failures) shown.add(keyOf(failure));
        onProgress?.(totals);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), batches) }, work));
  return totals;
}

/** The names of all properties. */
export const propertyNames = Object.keys(allProperties) as readonly PropertyName[];

function addFailure(failures: Map<string, Failure>, failure: Failure): void {
  const known = failures.get(keyOf(failure));
  failures.set(keyOf(failure), {
    ...failure,
    count: failure.count + (known?.count ?? 0),
    counterexample: known?.counterexample ?? failure.counterexample,
  });
}

function ask(worker: Worker, task: BatchTask): Promise<BatchResult> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (result: BatchResult) => {
      worker.off('error', reject);
      resolve(result);
    });
    worker.postMessage(task);
  });
}
