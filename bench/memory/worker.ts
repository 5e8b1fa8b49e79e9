/** A thread that does one piece of work after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import type { MemoryTask } from './cases.ts';
import { type MemoryJob, measureTask } from './job.ts';

const job = workerData as MemoryJob; // what the pool gives

parentPort?.on('message', (task: MemoryTask) => {
  measureTask(task, job).then(
    (results) => parentPort?.postMessage(results),
    (error: unknown) => {
      throw error;
    },
  );
});
