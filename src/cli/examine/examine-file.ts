import { RoundfoldError } from '../../conversation/errors.ts';
import type { BadInput } from '../../transcripts/input/json-values.ts';
import { type Recording, type RecordingOptions, readRecordingsOf } from '../../transcripts/recordings.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import type { Problem } from '../output.ts';

/** What is to be found in files: by which command, with which options. Plain data, for threads and for the index. */
export interface ExamineTask {
  readonly command: 'check' | 'details' | 'inspect' | 'sessions';
  readonly options?: unknown;
  readonly reading: Pick<RecordingOptions, 'format' | 'reader'>;
}

/** What was found in a file. Plain data that survives JSON: it comes from a thread, and is kept between looks. */
export interface ExaminedFile<Found> {
  readonly found: readonly Found[];
  readonly bad: readonly BadInput[];
  /** Why it could not be read. */
  readonly problem: (Problem & { readonly exitCode: ExitCode }) | undefined;
}

/** Makes what a command wants to know of the conversations of a file. */
export type Examine<Found> = (recordings: AsyncIterable<Recording>, file: string) => AsyncIterable<Found>;

/** For commands that want to know something of each conversation by itself. */
export function ofEach<Found>(examine: (recording: Recording) => Found): Examine<Found> {
  return async function* (recordings) {
    for await (const recording of recordings) yield examine(recording);
  };
}

/** Examines one file. A file that cannot be read is one with a problem, and with what was found before it. */
export async function examineFile<Found>(
  file: string,
  { reading }: ExamineTask,
  examine: Examine<Found>,
): Promise<ExaminedFile<Found>> {
  const found: Found[] = [];
  const bad: BadInput[] = [];
  try {
    const recordings = readRecordingsOf(file, { ...reading, onBadInput: (input) => void bad.push(input) });
    for await (const one of examine(recordings, file)) found.push(one);
    return { found, bad, problem: undefined };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    const { code, message, place, remedy } = error;
    return { found, bad, problem: { code, message, place, remedy, exitCode: exitCodeOf(error) } };
  }
}
