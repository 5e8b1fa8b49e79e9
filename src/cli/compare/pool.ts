import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type Job, type JobResult, runJob } from './job.ts';
import type { ProbeFiles } from './probe-folder.ts';
import type { CompareSettings } from './settings.ts';
import type { WorkerMessage } from './worker.ts';

/** What is compared: files of recorded sessions, and sessions with probes. */
export interface PoolInput {
  readonly files: readonly string[];
  readonly probes: readonly ProbeFiles[];
}

export interface PoolOptions {
  readonly settings: CompareSettings;
  /** Threads at most. */
  readonly jobs: number;
  /** Gets the share of all work that is done. */
  readonly onProgress: (share: number) => void;
}

/**
 * Compares files in threads, the largest first. Where there are fewer files than threads, each is cut into parts. The
 * results are in the order of the files and parts, those with probes first, whichever was done first.
 */
export async function runPool(
  { files, probes }: PoolInput,
  { settings, jobs, onProgress }: PoolOptions,
): Promise<readonly JobResult[]> {
  const pieces = [...probes.map(probePiece), ...piecesOf(files, jobs)];
  const total = pieces.reduce((sum, { weight }) => sum + weight, 0);
  const done = pieces.map(() => 0);
  const results: JobResult[] = [];
  const report = (index: number, share: number) => {
    done[index] = share;
    onProgress(pieces.reduce((sum, { weight }, piece) => sum + weight * (done[piece] ?? 0), 0) / total);
  };
  const queue = pieces
    .map((piece, index) => ({ ...piece, index }))
    .toSorted((left, right) => right.weight - left.weight);
  const work = async () => {
    let thread: Worker | undefined;
    try {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const { job, index } = next;
        const onShare = (share: number) => report(index, share);
        // Standard input belongs to this thread.
        if (job.file !== '-') thread ??= new Worker(workerFile(), { workerData: settings });
        results[index] = await (thread === undefined || job.file === '-'
          ? runJob(job, settings, onShare)
          : ask(thread, job, onShare));
        report(index, 1);
      }
    } finally {
      await thread?.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, pieces.length) }, work));
  return results;
}

interface Piece {
  readonly job: Job;
  /** About how much work it is. */
  readonly weight: number;
}

function piecesOf(files: readonly string[], jobs: number): readonly Piece[] {
  const parts = files.length < jobs ? Math.ceil(jobs / Math.max(1, files.length)) : 1;
  return files.flatMap((file) => {
    const isReadOnce = file === '-';
    const count = isReadOnce ? 1 : parts;
    const weight = ((isReadOnce ? undefined : sizeOf(file)) ?? 1) / count;
    return Array.from({ length: count }, (_, part) => ({ job: { file, part, parts: count }, weight }));
  });
}

/** It has one cut, which cannot be parted. */
function probePiece(probes: ProbeFiles): Piece {
  return {
    job: { file: probes.session, probes, part: 0, parts: 1 },
    weight: sizeOf(probes.session) ?? 1,
  };
}

/** A file of which the size is not known is found out about by whoever reads it. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size || undefined;
}

/** Where the thread's code is: beside this file in the source, and in a file of its own in the built package. */
const PLACES = ['./worker.ts', './compare/worker.js', '../cli/compare/worker.js'];

function workerFile(): URL {
  const urls = PLACES.map((place) => new URL(place, import.meta.url));
  const found = urls.find((url) => existsSync(fileURLToPath(url)));
  if (found === undefined) throw new Error('the code of the threads is missing from this package');
  return found;
}

function ask(thread: Worker, job: Job, onShare: (share: number) => void): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const listen = (message: WorkerMessage) => {
      if (message.type === 'progress') return onShare(message.share);
      thread.off('message', listen);
      thread.off('error', reject);
      resolve(message.result);
    };
    thread.on('message', listen);
    thread.once('error', reject);
    thread.postMessage(job);
  });
}
