import type { CheckContext } from '../../contracts/contract.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import { writeConversation } from '../../conversation/format.ts';
import { printable } from '../../conversation/printable.ts';
import { describeChange } from '../../formats/change-log.ts';
import { countOf } from '../../report/terminal.ts';
import type { BadInput } from '../../transcripts/input/json-values.ts';
import { errorsOf, type MendedSession, mendSession } from '../../transcripts/mend-session.ts';
import { type Recording, readRecordingsOf } from '../../transcripts/recordings.ts';
import { sessionWriters } from '../../transcripts/registry.ts';
import type { GivenArguments } from '../command.ts';
import { expandFolders } from '../examine/find-files.ts';
import { type ExitCode, exitCodeOf, exitCodes, worstOf } from '../exit-codes.ts';
import { checkOutputs, writePrivateFile } from '../files.ts';
import { type Report, reportError, writeJson } from '../output.ts';
import { createSessionOutput, placeSession, resumeCommand, type SessionOutput } from '../session-output.ts';

/** A file with what is wrong with it, and its live conversation as it was mended. */
interface Diagnosis {
  readonly file: string;
  readonly recording: Recording;
  readonly mended: MendedSession;
  /** Rules that it broke before. */
  readonly broken: number;
  /** Places that are no records. */
  readonly bad: readonly BadInput[];
  /** What the reader had to guess. */
  readonly damage: readonly string[];
}

/**
 * Writes a mended copy of each file, with an account of every change. A file with nothing to mend is left alone.
 * @throws RoundfoldError `usage` when one output is named for several files
 */
export async function fixFiles(given: GivenArguments, report: Report): Promise<ExitCode> {
  checkOutputs(given, given.positional);
  if (given.positional.length > 1 && given.text('out') !== undefined) {
    throw new RoundfoldError('usage', '--out names one file, and there are several to mend', {
      remedy: 'Leave --out out: each mended copy is written beside its file.',
    });
  }
  const codes: ExitCode[] = [];
  for (const file of expandFolders(given.positional)) {
    try {
      codes.push(fixFile(await diagnose(file, given), given, report));
    } catch (error) {
      if (!RoundfoldError.is(error)) throw error;
      reportError(report, error, file);
      codes.push(exitCodeOf(error));
    }
  }
  return worstOf(codes);
}

async function diagnose(file: string, given: GivenArguments): Promise<Diagnosis> {
  const bad: BadInput[] = [];
  const found: Recording[] = [];
  const options = { format: given.text('format'), reader: given.text('reader') };
  for await (const recording of readRecordingsOf(file, {
    ...options,
    onBadInput: (input) => void bad.push(input),
  }))
    found.push(recording);
  const [recording] = found;
  const live = recording?.conversations.at(-1);
  if (recording === undefined || live === undefined)
    throw new RoundfoldError('input-not-understood', 'a recording without a conversation');
  const { transcript } = recording;
  if (transcript.reader === 'json' && found.length > 1) {
    throw new RoundfoldError(
      'usage',
      `${file} holds ${found.length} conversations; one can be mended at a time`,
      {
        remedy: 'Put the conversation that is broken into a file of its own.',
      },
    );
  }
  const sessions = new Set(found.map((each) => each.transcript.session?.id)).size;
  if (transcript.reader === 'opencode' && sessions > 1) {
    throw new RoundfoldError('usage', `${file} holds ${sessions} sessions; one can be mended at a time`, {
      remedy: 'Take it out with `opencode export ID > session.json`, and mend that file.',
    });
  }
  const context: CheckContext = { scope: 'messages', model: given.text('model') ?? transcript.model };
  return {
    file,
    recording,
    mended: mendSession(live, context),
    broken: errorsOf(live, context).length,
    bad,
    damage: transcript.damage ?? [],
  };
}

function fixFile(diagnosis: Diagnosis, given: GivenArguments, report: Report): ExitCode {
  const { file, mended, recording, bad, damage, broken } = diagnosis;
  const { violations, repairs } = mended;
  const [first] = violations;
  if (first !== undefined) {
    reportError(report, {
      code: 'not-mended',
      message: `${file} cannot be mended: ${first.message}`,
      remedy: `Nothing was written. ${first.fix}`,
    });
    return exitCodes.failed;
  }
  const isWhole = repairs.length + bad.length + damage.length + broken === 0;
  const written = isWhole ? undefined : writeMended(diagnosis, given);
  if (report.json) {
    const { reader } = recording.transcript;
    const session = written?.session === undefined ? undefined : { id: written.session.written.id };
    writeJson(report, 'fix', { file, reader, out: written?.path, broken, repairs, bad, damage, session });
    return exitCodes.done;
  }
  sayMended(diagnosis, written, given, report);
  return exitCodes.done;
}

interface Written {
  readonly path: string;
  readonly session: SessionOutput | undefined;
}

function writeMended({ file, mended, recording }: Diagnosis, given: GivenArguments): Written {
  const { transcript } = recording;
  const writer = sessionWriters.find(({ name }) => name === transcript.reader);
  const session =
    writer === undefined
      ? undefined
      : createSessionOutput(writer, mended.conversation, recording, { file, model: transcript.model });
  if (given.flag('resume')) {
    if (session === undefined) {
      throw new RoundfoldError('usage', `--resume needs a session of an agent, and ${file} is none`, {
        remedy: 'Leave --resume out.',
      });
    }
    placeSession(session);
    return { path: session.place.path, session };
  }
  const text =
    session?.written.text ?? `${JSON.stringify(writeConversation(mended.conversation), null, 2)}\n`;
  const path = given.text('out') ?? fixedName(file, session === undefined);
  writePrivateFile(path, text, { kind: 'conversation', isForced: given.flag('force') });
  return { path, session };
}

/** `session.jsonl.gz` becomes `session.fixed.jsonl`. */
function fixedName(file: string, isBody: boolean): string {
  const plain = file === '-' ? 'conversation.json' : file.replace(/\.(?:gz|zst|br)$/, '');
  const dot = plain.lastIndexOf('.');
  const isNamed = dot > plain.lastIndexOf('/') + 1;
  const ending = isBody ? '.json' : isNamed ? plain.slice(dot) : '.jsonl';
  return `${isNamed ? plain.slice(0, dot) : plain}.fixed${ending}`;
}

const SHOWN_PLACES = 10;

function sayMended(
  { file, mended, bad, damage, recording }: Diagnosis,
  written: Written | undefined,
  given: GivenArguments,
  { terminal }: Report,
): void {
  const whole = (text: string) => printable(text, Number.POSITIVE_INFINITY);
  if (written === undefined) {
    terminal.out(`${terminal.style('green', 'legal')}   ${whole(file)}: nothing to mend\n`);
    return;
  }
  terminal.out(`${terminal.style('green', 'mended')}  ${whole(file)} → ${whole(written.path)}\n`);
  for (const { place, reason } of bad.slice(0, SHOWN_PLACES)) {
    const line = place.line === undefined ? 'a place' : `line ${place.line}`;
    terminal.out(`  ${line} left out: ${whole(reason)}\n`);
  }
  if (bad.length > SHOWN_PLACES) terminal.out(`  … and ${bad.length - SHOWN_PLACES} more places left out\n`);
  for (const note of damage) terminal.out(`  ${whole(note)}\n`);
  for (const change of [...mended.repairs, ...(written.session?.written.changes ?? [])])
    terminal.out(`  ${describeChange(change)}\n`);
  const earlier = recording.conversations.length - 1;
  if (earlier > 0)
    terminal.talk(`  what stood before ${countOf(earlier, 'compaction')} stays in the old file only\n`);
  if (given.flag('resume') && written.session !== undefined)
    terminal.out(`${whole(resumeCommand(written.session))}\n`);
}
