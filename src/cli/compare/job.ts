import { RoundfoldError } from '../../conversation/errors.ts';
import type { BadInput } from '../../transcripts/input/json-values.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../transcripts/recordings.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import type { Problem } from '../report.ts';
import { compareProbes, compareRecording, type RecordingResult } from './compare-recording.ts';
import { type ProbeFiles, readProbeFiles } from './probe-folder.ts';
import type { CompareSettings } from './settings.ts';

/** A piece of work: a file, or every n-th cut of it; or a session with probes. Plain data. */
export interface Job {
  readonly file: string;
  /** Set where the file is a session with probes. */
  readonly probes?: ProbeFiles | undefined;
  readonly part: number;
  readonly parts: number;
}

/** What came of a piece of work. Plain data: it comes from a thread. */
export interface JobResult {
  /** What the file is called. */
  readonly source: string;
  readonly recordings: readonly RecordingResult[];
  readonly bad: readonly BadInput[];
  /** Why the file could not be read, and what to end with then. */
  readonly problem: (Problem & { readonly exitCode: ExitCode }) | undefined;
}

/** Does a piece of work. A file that cannot be read is a problem of the result; `onProgress` gets the share done. */
export async function runJob(
  job: Job,
  settings: CompareSettings,
  onProgress: (share: number) => void,
): Promise<JobResult> {
  const bad: BadInput[] = [];
  try {
    if (job.probes !== undefined) {
      const session = await readProbeFiles(job.probes);
      const result = await compareProbes(session, { settings, onProgress });
      return { source: job.file, recordings: [result], bad, problem: undefined };
    }
    const source = await fileSource(job.file);
    const recordings = await readAll(source, settings, bad);
    const results: RecordingResult[] = [];
    const names = sessionNames(source.name, recordings);
    for (const [index, recording] of recordings.entries()) {
      const session = names[index] ?? source.name;
      const report = (share: number) => onProgress((index + share) / recordings.length);
      results.push(await compareRecording(recording, { ...job, session, settings, onProgress: report }));
    }
    return { source: source.name, recordings: results, bad, problem: undefined };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    const { code, message, place, remedy } = error;
    const problem = { code, message, place, remedy, exitCode: exitCodeOf(error) };
    return { source: job.file, recordings: [], bad: [], problem };
  }
}

async function readAll(
  source: Awaited<ReturnType<typeof fileSource>>,
  { format, reader }: CompareSettings,
  bad: BadInput[],
): Promise<readonly Recording[]> {
  const recordings: Recording[] = [];
  const onBadInput = (input: BadInput) => void bad.push(input);
  for await (const recording of readRecordings(source, { format, reader, onBadInput }))
    recordings.push(recording);
  return recordings;
}

/** A file with one conversation is one session, side chains included; otherwise each conversation is one. */
function sessionNames(file: string, recordings: readonly Recording[]): readonly string[] {
  const mains = recordings.filter(({ transcript }) => transcript.kind === 'main').length;
  return recordings.map(({ transcript }) => (mains <= 1 ? file : `${file} (${transcript.title})`));
}
