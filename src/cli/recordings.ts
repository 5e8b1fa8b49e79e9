import { describePlace, RoundfoldError } from '../conversation/errors.ts';
import { nearest } from '../conversation/nearest.ts';
import { printable, printablePath } from '../conversation/printable.ts';
import { formats } from '../formats/registry.ts';
import { countOf } from '../report/terminal.ts';
import { findModel } from '../tokens/catalog.ts';
import { catalog } from '../tokens/catalog-data.ts';
import type { BadInput } from '../transcripts/input/json-values.ts';
import { fileSource } from '../transcripts/input/source.ts';
import { type Recording, readRecordingsOf } from '../transcripts/recordings.ts';
import { transcriptReaders } from '../transcripts/registry.ts';
import { type GivenArguments, jsonOption, type OptionDefinition } from './command.ts';
import { type ExaminedFile, type ExamineTask, ofEach } from './examine/examine-file.ts';
import { type ExamineOptions, examineFiles } from './examine/examine-files.ts';
import { expandFolders, type SessionFile, sizedFiles } from './examine/find-files.ts';
import { type ExitCode, exitCodeOf, worstOf } from './exit-codes.ts';
import { untilInterrupted } from './interruption.ts';
import { type Problem, type Report, reportError, writeJson } from './output.ts';
import { shareBar, startProgressLine, type Terminal } from './terminal.ts';

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
  jsonOption,
];

/** What a command does with the conversations of its files. */
export interface RecordingVisitor<Found> {
  /** How a thread does what `examine` does; undefined where only this thread can. */
  readonly task: ExamineTask | undefined;
  /** What is to be told of a conversation. Plain data. */
  examine(recording: Recording): Found;
  /** Called for the conversations of each file in their order, and for files in theirs. */
  tell(found: Found, file: string): ExitCode;
  /** Called after the last conversation of each file that could be read. */
  endFile?(file: string): void;
  /** Called at the end, where a folder was named: how many files were looked at, and how many hold no conversation. */
  endFolders?(files: number, unreadable: number): void;
}

/** What reading a file comes to: a code to end with, or why it cannot be read. */
type Seen = { readonly code: ExitCode } | { readonly problem: Problem; readonly exitCode: ExitCode };

/**
 * Gives every conversation of every file to the visitor, those below folders included. A file that cannot be read is
 * reported and the next one taken; one that was found in a folder is no failure. Ends with the worst of all codes. Folders
 * are read by all processors where that is worth it, and files that have not changed since the last time are not read again.
 */
export async function eachRecording<Found>(
  given: GivenArguments,
  report: Report,
  visitor: RecordingVisitor<Found>,
): Promise<ExitCode> {
  const codes: ExitCode[] = [];
  const files = expandFolders(given.positional);
  const named = new Set(given.positional);
  const hasFolder = files.some((file) => !named.has(file));
  const line = startProgressLine(report.terminal, PROGRESS_DELAY_MS);
  let unreadable = 0;
  let done = 0;
  const settle = (file: string, seen: Seen): void => {
    done++;
    if ('code' in seen) {
      codes.push(seen.code);
      return;
    }
    line.end();
    const { problem } = seen;
    if (named.has(file)) {
      reportError(report, problem, file);
      codes.push(seen.exitCode);
    }
    // What an option asks for may be in some files of a folder only.
    const isLeftOut = problem.code === 'usage';
    if (!isLeftOut) unreadable++;
    if (!named.has(file)) sayLeftOut(report, file, { isLeftOut, reason: problem.message });
  };
  if (hasFolder && visitor.task !== undefined && !files.includes('-')) {
    const look = { task: visitor.task, examine: ofEach(visitor.examine), progress: line };
    const stoppedWith = await examineInOrder<Found>(files, report, look, (file, examined) => {
      line.end();
      settle(file, tellExamined(file, examined, report, visitor));
    });
    if (stoppedWith !== undefined)
      return sayInterrupted(report, stoppedWith, { done, of: files.length, noun: 'file' });
  } else {
    // Many files have one line together: hardly any of them takes long by itself.
    const say = (): string =>
      `${shareBar(done / files.length, report.terminal)} of ${countOf(files.length, 'file')}`;
    const folderLine = hasFolder ? { update: () => line.update(say), end: line.end } : undefined;
    for (const file of files) {
      folderLine?.update();
      settle(file, await visitFile(file, given, report, { visitor, progress: folderLine }));
    }
  }
  line.end();
  if (hasFolder) visitor.endFolders?.(files.length, unreadable);
  return worstOf(codes);
}

/**
 * Examines files and tells of them in their order, whichever was done first.
 * @returns what to end with when it was interrupted
 */
async function examineInOrder<Found>(
  paths: readonly string[],
  { terminal }: Report,
  look: Pick<ExamineOptions<Found>, 'task' | 'examine' | 'progress'>,
  tell: (file: string, examined: ExaminedFile<Found>) => void,
): Promise<ExitCode | undefined> {
  const files = sizedFiles(paths);
  const waiting = new Map<SessionFile, ExaminedFile<Found>>();
  let next = 0;
  const onExamined = (file: SessionFile, examined: ExaminedFile<Found>): void => {
    waiting.set(file, examined);
    for (let ready = files[next]; ready !== undefined; ready = files[++next]) {
      const found = waiting.get(ready);
      if (found === undefined) return;
      tell(ready.path, found);
      waiting.delete(ready);
    }
  };
  const run = untilInterrupted((signal) =>
    examineFiles(files, { ...look, signal, terminal, onExamined }).finally(look.progress.end),
  );
  return (await run).stoppedWith;
}

/** Says that somebody ended it before all were seen. */
export function sayInterrupted(
  report: Report,
  code: ExitCode,
  seen: { readonly done: number; readonly of: number; readonly noun: 'file' | 'session' },
): ExitCode {
  reportError(report, {
    code: 'interrupted',
    message: `interrupted after ${seen.done} of ${countOf(seen.of, seen.noun)}`,
    remedy: 'Run it again: what was seen is not read a second time.',
  });
  return code;
}

function tellExamined<Found>(
  file: string,
  { found, bad, problem }: ExaminedFile<Found>,
  report: Report,
  visitor: RecordingVisitor<Found>,
): Seen {
  const codes = found.map((one) => visitor.tell(one, file));
  if (codes.length > 0) reportBadInput(report, file, bad);
  if (problem !== undefined) return { problem, exitCode: problem.exitCode };
  visitor.endFile?.(file);
  return { code: worstOf(codes) };
}

function sayLeftOut(
  report: Report,
  file: string,
  { isLeftOut, reason }: { readonly isLeftOut: boolean; readonly reason: string },
): void {
  if (report.json) {
    writeJson(report, isLeftOut ? 'left-out' : 'unreadable', { file, reason });
    return;
  }
  const what = printable(`${file}: ${reason}`, Number.POSITIVE_INFINITY);
  report.terminal.talk(`${isLeftOut ? 'left out' : 'unreadable'}: ${what}\n`);
}

async function visitFile<Found>(
  file: string,
  given: GivenArguments,
  report: Report,
  look: {
    readonly visitor: RecordingVisitor<Found>;
    readonly progress: ReturnType<typeof startProgress> | undefined;
  },
): Promise<Seen> {
  const { visitor } = look;
  const bad: BadInput[] = [];
  const codes: ExitCode[] = [];
  try {
    const source = await fileSource(file);
    const progress = look.progress ?? startProgress(report.terminal, source.name, source.sizeBytes);
    try {
      const recordings = readRecordingsOf(file, {
        ...readingOf(given),
        onBadInput: (input) => void bad.push(input),
        onProgress: progress.update,
      });
      for await (const recording of recordings) {
        progress.end();
        codes.push(visitor.tell(visitor.examine(recording), source.name));
      }
    } finally {
      progress.end();
      // A file without any conversation is an error of its own, which says more than a list of its parts.
      if (codes.length > 0) reportBadInput(report, source.name, bad);
    }
    visitor.endFile?.(source.name);
    return { code: worstOf(codes) };
  } catch (error) {
    if (!RoundfoldError.is(error)) throw error;
    return { problem: error, exitCode: exitCodeOf(error) };
  }
}

/** How files are to be read. */
export function readingOf(given: GivenArguments): ExamineTask['reading'] {
  return { format: given.text('format'), reader: given.text('reader') };
}

/** How many damaged places of one file are named; the rest is counted. */
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

const PROGRESS_DELAY_MS = 1000;

/** Shows how much of a file has been read, once that takes longer than a second. */
function startProgress(terminal: Terminal, name: string, sizeBytes: number | undefined) {
  const line = startProgressLine(terminal, PROGRESS_DELAY_MS);
  return {
    /** So many of the file's bytes have been read. */
    update: (bytes: number): void =>
      line.update(() => {
        const share = sizeBytes ? `${shareBar(Math.min(1, bytes / sizeBytes), terminal)} of ` : '';
        return `reading ${name} ${share}${(bytes / 1e6).toFixed(0)} MB`;
      }),
    end: line.end,
  };
}

/**
 * The conversation of the file that is asked for; the first where nothing is asked, which is said where there are others.
 * @throws RoundfoldError `usage` when the file has fewer
 */
export async function findRecording(given: GivenArguments, { terminal }: Report): Promise<Recording> {
  const [file = '-'] = given.positional;
  const asked = given.text('conversation');
  const wanted = Number(asked ?? 1);
  if (!Number.isInteger(wanted) || wanted < 1) {
    throw new RoundfoldError('usage', '--conversation wants a number from 1 on', {
      remedy: '`roundfold inspect` lists the conversations of a file in their order.',
    });
  }
  let seen = 0;
  let found: Recording | undefined;
  const recordings = readRecordingsOf(file, { format: given.text('format'), reader: given.text('reader') });
  for await (const recording of recordings) {
    if (++seen === wanted) found = recording;
    if (found === undefined || (asked === undefined && seen === wanted)) continue;
    if (seen > wanted)
      terminal.talk(
        'the file holds several conversations, and this is the first: --conversation takes another\n',
      );
    return found;
  }
  if (found !== undefined) return found;
  throw new RoundfoldError('usage', `there is no conversation ${wanted} in ${file}`, {
    remedy: `It holds ${seen}.`,
  });
}

/**
 * The model to go by: the one that was asked for, else the one that the file names.
 * @throws RoundfoldError `usage` when the one that was asked for is unknown
 */
export function readModel(given: GivenArguments, recorded: string | undefined): string | undefined {
  const asked = given.text('model');
  if (asked === undefined) return recorded;
  if (findModel(asked) !== undefined) return asked;
  const meant = nearest(
    asked,
    catalog.map(({ id }) => id),
  );
  const question = meant === undefined ? '' : `Did you mean ${meant}? `;
  throw new RoundfoldError('usage', `unknown model ${JSON.stringify(asked)}`, {
    remedy: `${question}Leave --model out to go by what the file says; --budget alone decides how small it gets.`,
  });
}
