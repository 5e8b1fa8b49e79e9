/** Hands pieces of work to threads until all are measured. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { MemoryTask } from './cases.ts';
import type { MemoryJob, MemoryResult } from './job.ts';

/** Measures everything, the first pieces first; the results are in the order of the pieces. */
export async function measureTasks(
  tasks: readonly MemoryTask[],
  job: MemoryJob,
): Promise<readonly MemoryResult[]> {
  const queue = [...tasks.entries()];
  const measured = tasks.map((): readonly MemoryResult[] => []);
  const work = async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: job });
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, task] = next;
      measured[index] = await ask(worker, task);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), tasks.length) }, work));
  return measured.flat();
}

function ask(worker: Worker, task: MemoryTask): Promise<readonly MemoryResult[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (results: readonly MemoryResult[]) => {
      worker.off('error', reject);
      resolve(results);
    });
    worker.postMessage(task);
  });
}
