import { runInThreads } from '../threads.ts';
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
  await runInThreads<SessionFile, Look>(queue, {
    worker: 'sessions',
    threads,
    signal,
    onResult: onLook,
    onCrash: (file) => onLook(file, CRASHED),
  });
}
