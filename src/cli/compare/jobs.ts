import { statSync } from 'node:fs';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { BadInput } from '../../transcripts/input/json-values.ts';
import { fileSource } from '../../transcripts/input/source.ts';
import { type Recording, readRecordings } from '../../transcripts/recordings.ts';
import { type ExitCode, exitCodeOf } from '../exit-codes.ts';
import type { Problem } from '../output.ts';
import { runInThreads } from '../threads.ts';
import { type ProbeFiles, readProbeFiles } from './probe-folder.ts';
import { type CompareSettings, compareProbes, compareRecording, type RecordingResult } from './recording.ts';

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
    const { format, reader } = settings;
    const onBadInput = (input: BadInput) => void bad.push(input);
    const recordings: Recording[] = [];
    for await (const one of readRecordings(source, { format, reader, onBadInput })) recordings.push(one);
    // A file with one conversation is one session, side chains included; otherwise each conversation is one.
    const isOne = recordings.filter(({ transcript }) => transcript.kind === 'main').length <= 1;
    const results: RecordingResult[] = [];
    for (const [index, recording] of recordings.entries()) {
      const session = isOne ? source.name : `${source.name} (${recording.transcript.title})`;
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

/** What is compared: files of recorded sessions, and sessions with probes. */
export interface PoolInput {
  readonly files: readonly string[];
  readonly probes: readonly ProbeFiles[];
}

/**
 * Compares files in threads, the largest first. Where there are fewer files than threads, each is cut into parts. The
 * results are in the order of the files and parts, those with probes first, whichever was done first.
 * @param threads how many work at the same time, at most
 * @param onProgress gets the share of all work that is done
 */
export async function runPool(
  { files, probes }: PoolInput,
  settings: CompareSettings,
  threads: number,
  onProgress: (share: number) => void,
): Promise<readonly JobResult[]> {
  const pieces = [...probes.map(probePiece), ...piecesOf(files, threads)];
  const total = pieces.reduce((sum, { weight }) => sum + weight, 0);
  const done = pieces.map(() => 0);
  const results: JobResult[] = [];
  const report = (index: number, share: number) => {
    done[index] = share;
    onProgress(pieces.reduce((sum, { weight }, piece) => sum + weight * (done[piece] ?? 0), 0) / total);
  };
  const indexed = pieces.map((piece, index) => ({ ...piece, index }));
  const finish = ({ index }: Indexed, result: JobResult): void => {
    results[index] = result;
    report(index, 1);
  };
  // Standard input belongs to this thread.
  const here = indexed.filter(({ job }) => job.file === '-');
  const elsewhere = indexed
    .filter(({ job }) => job.file !== '-')
    .toSorted((left, right) => right.weight - left.weight);
  await Promise.all([
    ...here.map(async (piece) =>
      finish(piece, await runJob(piece.job, settings, (share) => report(piece.index, share))),
    ),
    runInThreads<Indexed, JobResult>(elsewhere, {
      worker: 'compare',
      workerData: settings,
      threads,
      onProgress: ({ index }, share) => report(index, share),
      onResult: finish,
      onCrash(_, error) {
        throw error;
      },
    }),
  ]);
  return results;
}

interface Piece {
  readonly job: Job;
  /** About how much work it is. */
  readonly weight: number;
}

type Indexed = Piece & { readonly index: number };

function piecesOf(files: readonly string[], threads: number): readonly Piece[] {
  const parts = files.length < threads ? Math.ceil(threads / Math.max(1, files.length)) : 1;
  return files.flatMap((file) => {
    const isReadOnce = file === '-';
    const count = isReadOnce ? 1 : parts;
    const weight = ((isReadOnce ? undefined : sizeOf(file)) ?? 1) / count;
    return Array.from({ length: count }, (_, part) => ({ job: { file, part, parts: count }, weight }));
  });
}

/** A session with probes has one cut, so it is never split into parts. */
function probePiece(probes: ProbeFiles): Piece {
  return {
    job: { file: probes.session, probes, part: 0, parts: 1 },
    weight: sizeOf(probes.session) ?? 1,
  };
}

/** Undefined for a file that is not there or empty: whoever reads it says so. */
function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size || undefined;
}
