import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/** What a thread says: how far it is, and in the end what came of it. */
export type ThreadMessage<Result> =
  | { readonly type: 'progress'; readonly share: number }
  | { readonly type: 'done'; readonly result: Result };

export interface ThreadOptions<Job, Result> {
  /** Folder below `cli` whose `worker.ts` the threads run. */
  readonly worker: 'compare' | 'examine';
  /** What every thread is told when it starts. */
  readonly workerData?: unknown;
  /** How many work at the same time, at most. */
  readonly threads: number;
  readonly signal?: AbortSignal | undefined;
  onProgress?(job: Job, share: number): void;
  onResult(job: Job, result: Result): void;
  /** Told of a thread that ended unexpectedly; another one takes its place, unless this throws. */
  onCrash(job: Job, error: unknown): void;
}

/** Does work in threads, in the order of the jobs. Ends at once when it is told to, with what was done until then. */
export async function runInThreads<Job, Result>(
  jobs: readonly Job[],
  options: ThreadOptions<Job, Result>,
): Promise<void> {
  const { threads, signal, workerData, onResult, onCrash } = options;
  const queue = [...jobs];
  const file = workerFile(options.worker);
  const start = (): Worker => new Worker(file, { workerData });
  const work = async (): Promise<void> => {
    let thread: Worker | undefined;
    try {
      for (let job = queue.shift(); job !== undefined && !signal?.aborted; job = queue.shift()) {
        thread ??= start();
        const answer = await ask(thread, job, options);
        if (answer.type === 'stopped') return;
        if (answer.type === 'done') onResult(job, answer.result);
        else {
          await thread.terminate();
          thread = undefined;
          onCrash(job, answer.error);
        }
      }
    } finally {
      await thread?.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, jobs.length) }, work));
}

type Answer<Result> =
  | { readonly type: 'done'; readonly result: Result }
  | { readonly type: 'crashed'; readonly error: unknown }
  | { readonly type: 'stopped' };

function ask<Job, Result>(
  thread: Worker,
  job: Job,
  { signal, onProgress }: ThreadOptions<Job, Result>,
): Promise<Answer<Result>> {
  return new Promise((resolve) => {
    const end = (answer: Answer<Result>): void => {
      thread.off('message', listen);
      thread.off('error', crash);
      signal?.removeEventListener('abort', stop);
      resolve(answer);
    };
    const listen = (message: ThreadMessage<Result>): void => {
      if (message.type === 'progress') onProgress?.(job, message.share);
      else end(message);
    };
    const crash = (error: unknown): void => end({ type: 'crashed', error });
    const stop = (): void => end({ type: 'stopped' });
    thread.on('message', listen);
    thread.once('error', crash);
    signal?.addEventListener('abort', stop, { once: true });
    thread.postMessage(job);
  });
}

/** Where the code of threads is: beside this file in the source, and in a file of its own in the built package. */
function workerFile(name: string): URL {
  const places = [`./${name}/worker.ts`, `./${name}/worker.js`, `../cli/${name}/worker.js`];
  const found = places
    .map((place) => new URL(place, import.meta.url))
    .find((url) => existsSync(fileURLToPath(url)));
  if (found === undefined) throw new Error('the code of the threads is missing from this package');
  return found;
}
