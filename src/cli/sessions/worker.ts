/** A thread that looks at one file after the other, as it is told. */
import { parentPort } from 'node:worker_threads';
import type { ThreadMessage } from '../threads.ts';
import type { SessionFile } from './find-files.ts';
import { type Look, lookAt } from './look.ts';

parentPort?.on('message', async ({ path }: SessionFile) => {
  const done: ThreadMessage<Look> = { type: 'done', result: await lookAt(path) };
  parentPort?.postMessage(done);
});
