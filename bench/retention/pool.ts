/** Hands files to threads, the largest first, until all are measured. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Measurement } from '../../src/lab/measure.ts';
import { corpusPath } from '../../test/support/corpus.ts';
import type { SessionFile } from './corpus.ts';
import type { JobOptions } from './job.ts';

/** Measures all files. `onFile` is told after each of them. */
export async function measureFiles(
  files: readonly SessionFile[],
  options: JobOptions,
  generic: ReadonlySet<string>,
  onFile: (file: string) => void,
): Promise<readonly Measurement[]> {
  const queue = files.toSorted((left, right) => sizeOf(right) - sizeOf(left));
  const measured: (readonly Measurement[])[] = [];
  const work = async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { options, generic } });
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      measured.push(await ask(worker, file));
      onFile(file.file);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), files.length) }, work));
  return inOrder(measured.flat());
}

function sizeOf({ file }: SessionFile): number {
  return statSync(corpusPath(file)).size;
}

function ask(worker: Worker, file: SessionFile): Promise<readonly Measurement[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', ({ measured }: { measured: readonly Measurement[] }) => {
      worker.off('error', reject);
      resolve(measured);
    });
    worker.postMessage(file);
  });
}

/** Threads finish in any order; results do not depend on it. */
function inOrder(measured: readonly Measurement[]): readonly Measurement[] {
  return measured.toSorted((left, right) =>
    left.session < right.session ? -1 : Number(left.session > right.session),
  );
}
