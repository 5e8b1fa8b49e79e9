import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { SessionFile } from './find-files.ts';
import { type Look, lookAt } from './look.ts';

export interface LookOptions {
  /** How many files are read at the same time, at most. */
  readonly threads: number;
  readonly signal: AbortSignal;
  /** Told after each file. */
  onLook(file: SessionFile, look: Look): void;
}

/** A file that this program could not get through, which must not keep it from the others. */
const CRASHED: Look = { rows: [], problem: 'reading it ended unexpectedly' };

/** So few bytes are read sooner than a thread starts. */
const NOT_WORTH_THREADS = 2_000_000;

/** Looks at files in threads, the largest first. Ends at once when it is told to, with what was seen until then. */
export async function lookAtAll(files: readonly SessionFile[], options: LookOptions): Promise<void> {
  const { threads, signal, onLook } = options;
  const queue = files.toSorted((left, right) => right.sizeBytes - left.sizeBytes);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes < NOT_WORTH_THREADS) {
    for (const file of queue) if (!signal.aborted) onLook(file, await lookAt(file.path));
    return;
  }
  const work = async (): Promise<void> => {
    let thread = new Worker(workerFile());
    try {
      for (let file = queue.shift(); file !== undefined && !signal.aborted; file = queue.shift()) {
        const look = await ask(thread, file.path, signal);
        if (look === 'stopped') return;
        if (look === 'crashed') {
          await thread.terminate();
          thread = new Worker(workerFile());
        }
        onLook(file, look === 'crashed' ? CRASHED : look);
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, queue.length) }, work));
}

function ask(thread: Worker, path: string, signal: AbortSignal): Promise<Look | 'crashed' | 'stopped'> {
  return new Promise((resolve) => {
    const end = (result: Look | 'crashed' | 'stopped'): void => {
      thread.off('message', end);
      thread.off('error', crash);
      signal.removeEventListener('abort', stop);
      resolve(result);
    };
    const crash = (): void => end('crashed');
    const stop = (): void => end('stopped');
    thread.on('message', end);
    thread.once('error', crash);
    signal.addEventListener('abort', stop, { once: true });
    thread.postMessage(path);
  });
}

/** Where the thread's code is: beside this file in the source, and in a file of its own in the built package. */
function workerFile(): URL {
  const built = ['./sessions/worker.js', '../cli/sessions/worker.js'];
  const urls = [
    new URL('./worker.ts', import.meta.url),
    ...built.map((place) => new URL(place, import.meta.url)),
  ];
  const found = urls.find((url) => existsSync(fileURLToPath(url)));
  if (found === undefined) throw new Error('the code of the threads is missing from this package');
  return found;
}
