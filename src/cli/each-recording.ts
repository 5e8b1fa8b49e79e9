import { describePlace, RoundfoldError } from '../conversation/errors.ts';
import { printable, printablePath } from '../conversation/printable.ts';
import { formats } from '../formats/registry.ts';
import type { BadInput } from '../transcripts/input/json-values.ts';
import { fileSource } from '../transcripts/input/source.ts';
import { type Recording, readRecordings } from '../transcripts/recordings.ts';
import { transcriptReaders } from '../transcripts/registry.ts';
import type { GivenArguments, OptionDefinition } from './command.ts';
import { type ExitCode, exitCodeOf, worstOf } from './exit-codes.ts';
import { startProgress } from './progress.ts';
import { type Report, reportError, writeJson } from './report.ts';

/** Options of every command that reads conversations. */
export const readingOptions: readonly OptionDefinition[] = [
  {
    flags: '--format <name>',
    help: 'wire format of a plain JSON file, when it is not recognised',
    choices: formats.map(({ name }) => name),
  },
  {
    flags: '--reader <name>',
    help: 'kind of file, when it is not recognised',
    choices: transcriptReaders(() => undefined).map(({ name }) => name),
  },
  { flags: '--model <name>', help: 'model to judge by, instead of the one the file names' },
  { flags: '-j, --json', help: 'one JSON object per line on standard output' },
];

/** What a command does with the conversations of its files. */
export interface RecordingVisitor {
  visit(recording: Recording, file: string): ExitCode;
  /** Called after the last conversation of each file that could be read. */
  endFile?(file: string): void;
}

/**
 * Gives every conversation of every file to the visitor. A file that cannot be read is reported and the next one
 * taken. Ends with the worst of all codes.
 */
export async function eachRecording(
  given: GivenArguments,
  report: Report,
  visitor: RecordingVisitor,
): Promise<ExitCode> {
  const codes: ExitCode[] = [];
  for (const file of given.positional) {
    try {
      codes.push(await readFile(file, { given, report, visitor }));
    } catch (error) {
      if (!RoundfoldError.is(error)) throw error;
      reportError(report, error, file);
      codes.push(exitCodeOf(error));
    }
  }
  return worstOf(codes);
}

interface Visit {
  readonly given: GivenArguments;
  readonly report: Report;
  readonly visitor: RecordingVisitor;
}

async function readFile(file: string, { given, report, visitor }: Visit): Promise<ExitCode> {
  const source = await fileSource(file);
  const progress = startProgress(report.terminal, source.name, source.sizeBytes);
  const bad: BadInput[] = [];
  const codes: ExitCode[] = [];
  try {
    const recordings = readRecordings(source, {
      format: given.text('format'),
      reader: given.text('reader'),
      onBadInput: (input) => void bad.push(input),
      onProgress: (bytes) => progress.update(bytes),
    });
    for await (const recording of recordings) {
      progress.end();
      codes.push(visitor.visit(recording, source.name));
    }
  } finally {
    progress.end();
    // A file without any conversation is an error of its own, which says more than a list of its parts.
    if (codes.length > 0) reportBadInput(report, source.name, bad);
  }
  visitor.endFile?.(source.name);
  return worstOf(codes);
}

/** So many damaged places of one file are named; the rest is counted. */
const NAMED_PLACES = 5;

function reportBadInput(report: Report, file: string, bad: readonly BadInput[]): void {
  const { terminal } = report;
  if (report.json) {
    for (const { place, reason } of bad) writeJson(report, 'bad-input', { file, place, reason });
    return;
  }
  for (const { place, reason } of bad.slice(0, NAMED_PLACES)) {
    const where = describePlace({ ...place, source: file });
    const what = printable(`${where}: ${reason}`, Number.POSITIVE_INFINITY);
    terminal.talk(`${terminal.styleTalk('yellow', 'skipped')} ${what}\n`);
  }
  if (bad.length > NAMED_PLACES)
    terminal.talk(`and ${bad.length - NAMED_PLACES} more places in ${printablePath(file)}\n`);
}
