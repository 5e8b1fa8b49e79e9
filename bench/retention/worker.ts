/** A thread that measures one file after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import type { SessionFile } from './corpus.ts';
import { type JobOptions, runJob } from './job.ts';

const { options, generic } = workerData as {
  readonly options: JobOptions;
  readonly generic: ReadonlySet<string>;
};

parentPort?.on('message', (file: SessionFile) => {
  runJob(file, options, generic).then(
    (measured) => parentPort?.postMessage({ measured }),
    (error: unknown) => {
      throw error;
    },
  );
});
