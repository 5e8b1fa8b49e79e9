/** A thread that does one piece of work after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Job, runJob, type WorkerMessage } from './jobs.ts';
import type { CompareSettings } from './recording.ts';

const settings = workerData as CompareSettings; // put there by the pool

parentPort?.on('message', async (job: Job) => {
  const say = (message: WorkerMessage) => parentPort?.postMessage(message);
  const result = await runJob(job, settings, (share) => say({ type: 'progress', share }));
  say({ type: 'done', result });
});
