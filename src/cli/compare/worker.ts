/** A thread that does one piece of work after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Job, type JobResult, runJob } from './job.ts';
import type { CompareSettings } from './settings.ts';

/** What a thread says: how far it is, and in the end what came of it. */
export type WorkerMessage =
  | { readonly type: 'progress'; readonly share: number }
  | { readonly type: 'done'; readonly result: JobResult };

const settings = workerData as CompareSettings; // put there by the pool

parentPort?.on('message', (job: Job) => {
  const say = (message: WorkerMessage) => parentPort?.postMessage(message);
  runJob(job, settings, (share) => say({ type: 'progress', share })).then(
    (result) => say({ type: 'done', result }),
    (error: unknown) => {
      throw error;
    },
  );
});
