/** A thread that looks at one file after the other, as it is told. */
import { parentPort } from 'node:worker_threads';
import { lookAt } from './look.ts';

parentPort?.on('message', async (path: string) => {
  parentPort?.postMessage(await lookAt(path));
});
