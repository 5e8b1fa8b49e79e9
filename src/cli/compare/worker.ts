/** A thread that does one piece of work after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadMessage } from '../threads.ts';
import { type Job, type JobResult, runJob } from './jobs.ts';
import type { CompareSettings } from './recording.ts';

const settings = workerData as CompareSettings; // put there by the pool

parentPort?.on('message', async ({ job }: { readonly job: Job }) => {
  const say = (message: ThreadMessage<JobResult>) => parentPort?.postMessage(message);
  const result = await runJob(job, settings, (share) => say({ type: 'progress', share }));
  say({ type: 'done', result });
});
