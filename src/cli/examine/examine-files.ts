import { availableParallelism } from 'node:os';
import { formatBytes } from '../../report/terminal.ts';
import { exitCodes } from '../exit-codes.ts';
import { agentEnvironment } from '../session-output.ts';
import { type ProgressLine, shareBar, type Terminal } from '../terminal.ts';
import { runInThreads } from '../threads.ts';
import { readVersion } from '../version.ts';
import { type Examine, type ExaminedFile, type ExamineTask, examineFile } from './examine-file.ts';
import type { SessionFile } from './find-files.ts';
import { openIndex } from './index-file.ts';

export interface ExamineOptions<Found> {
  readonly task: ExamineTask;
  /** What threads do for the task, for this thread. */
  readonly examine: Examine<Found>;
  readonly signal: AbortSignal;
  readonly terminal: Terminal;
  /** Shows how much has been read. */
  readonly progress: ProgressLine;
  /** Told of each file: first of those that the index knows, then of the others as they are done. */
  onExamined(file: SessionFile, examined: ExaminedFile<Found>): void;
}

/** A file that this program could not get through, which must not keep it from the others. */
const CRASHED: ExaminedFile<never> = {
  found: [],
  bad: [],
  problem: { code: 'crashed', message: 'reading it ended unexpectedly', exitCode: exitCodes.failed },
};

/**
 * From how many bytes on threads pay. They cost 0.3 seconds, to start and to warm up each by itself; in that time one thread
 * reads and examines half of these bytes (85 MB/s, and 10 MB/s where sessions are sent again).
 */
const WORTH_THREADS_BYTES: Readonly<Record<ExamineTask['command'], number>> = {
  check: 50_000_000,
  inspect: 50_000_000,
  sessions: 50_000_000,
  details: 5_000_000,
};

/**
 * Examines files, in the order in which they are given and with all processors. Files that have not changed since the same
 * task saw them are not read again. Ends at once when it is told to, with what was seen until then.
 */
export async function examineFiles<Found>(
  files: readonly SessionFile[],
  { task, examine, signal, terminal, progress, onExamined }: ExamineOptions<Found>,
): Promise<void> {
  const index = openIndex<Found>(agentEnvironment(), { by: readVersion(), task });
  const unread: SessionFile[] = [];
  for (const file of files) {
    const known = index.find(file);
    if (known === undefined) unread.push(file);
    else onExamined(file, known);
  }
  const bytes = unread.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let done = 0;
  const settle = (file: SessionFile, examined: ExaminedFile<Found>): void => {
    done += file.sizeBytes;
    onExamined(file, examined);
    progress.update(() => `${shareBar(done / Math.max(1, bytes), terminal)} of ${formatBytes(bytes)}`);
  };
  const onResult = (file: SessionFile, examined: ExaminedFile<Found>): void => {
    index.add(file, examined);
    settle(file, examined);
  };
  try {
    if (bytes < WORTH_THREADS_BYTES[task.command]) {
      for (const file of unread)
        if (!signal.aborted) onResult(file, await examineFile(file.path, task, examine));
    } else {
      await runInThreads<SessionFile, ExaminedFile<Found>>(unread, {
        worker: 'examine',
        workerData: task,
        threads: availableParallelism(),
        signal,
        onResult,
        onCrash: (file) => settle(file, CRASHED),
      });
    }
  } finally {
    index.save();
  }
}
