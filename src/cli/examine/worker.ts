/** A thread that examines one file after the other, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { detailsOf } from '../../report/session-details.ts';
import { sessionsOf } from '../../report/session-row.ts';
import { checkRecording } from '../commands/check.ts';
import { inspectSegments } from '../commands/inspect.ts';
import type { ThreadMessage } from '../threads.ts';
import { type Examine, type ExaminedFile, type ExamineTask, examineFile, ofEach } from './examine-file.ts';
import type { SessionFile } from './find-files.ts';

const task = workerData as ExamineTask; // put there by the pool

/** What each command does with files; its options are what the same command gave the pool. */
const commands: Readonly<Record<ExamineTask['command'], (options: never) => Examine<unknown>>> = {
  check: (options) => ofEach((recording) => checkRecording(recording, options)),
  details: (options) => (recordings) => detailsOf(recordings, options),
  inspect: (options) => ofEach((recording) => inspectSegments(recording, options)),
  sessions: () => sessionsOf,
};

const examine = commands[task.command](task.options as never);

parentPort?.on('message', async ({ path }: SessionFile) => {
  const result = await examineFile(path, task, examine);
  const done: ThreadMessage<ExaminedFile<unknown>> = { type: 'done', result };
  parentPort?.postMessage(done);
});
