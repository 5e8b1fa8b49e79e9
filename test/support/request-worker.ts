/** A thread that runs batches of requests, one after another. */
import { parentPort } from 'node:worker_threads';
import { type BatchTask, runBatch } from './request-batch.ts';

parentPort?.on('message', async (task: BatchTask) => {
  parentPort?.postMessage(await runBatch(task));
});
