/** A thread that examines one file after the other for `check` or `inspect`, as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { BadInput } from '../../transcripts/input/json-values.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import { type Recording, readRecordingsOf } from '../../transcripts/recordings.ts';
import { checkRecording } from '../commands/check.ts';
import { inspectSegments } from '../commands/inspect.ts';
import { exitCodeOf } from '../exit-codes.ts';
import type { ExaminedFile, ExamineTask } from '../recordings.ts';
import type { ThreadMessage } from '../threads.ts';

const { task, files } = workerData as { readonly task: ExamineTask; readonly files: readonly string[] }; // put there by the pool

type Examine = (recording: Recording, options: never) => unknown;

const commands: Readonly<Record<ExamineTask['command'], Examine>> = {
  check: checkRecording,
  inspect: inspectSegments,
};

async function examine(file: string): Promise<ExaminedFile> {
  const found: unknown[] = [];
  const bad: BadInput[] = [];
  const onBadInput = (input: BadInput): void => void bad.push(input);
  let source = file;
  try {
    source = (await fileSource(file)).name;
    for await (const recording of readRecordingsOf(file, { ...task.reading, onBadInput }))
      found.push(commands[task.command](recording, task.options as never)); // what the same command gave the pool
    return { source, found, bad, problem: undefined };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    const { code, message, place, remedy } = error;
    return { source, found, bad, problem: { code, message, place, remedy, exitCode: exitCodeOf(error) } };
  }
}

parentPort?.on('message', async (index: number) => {
  const done: ThreadMessage<ExaminedFile> = { type: 'done', result: await examine(files[index] ?? '') };
  parentPort?.postMessage(done);
});
