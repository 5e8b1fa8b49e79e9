import { RoundfoldError } from '../../../conversation/errors.ts';
import { countOf, formatCount } from '../../../report/terminal.ts';
import type { Store } from '../../../stores/store.ts';
import { fileSource } from '../../../transcripts/input/source.ts';
import { readRecordingsOf } from '../../../transcripts/recordings.ts';
import type { CommandDefinition } from '../../command.ts';
import { jsonOption } from '../../command.ts';
import { findFiles } from '../../examine/find-files.ts';
import { type ExitCode, exitCodeOf, worstOf } from '../../exit-codes.ts';
import { untilInterrupted } from '../../interruption.ts';
import { reportError, writeJson } from '../../output.ts';
import { countRecords, overStore, type StoreWork, storeOption, tenantOption } from '../../store.ts';
import { shareBar, startProgressLine } from '../../terminal.ts';
import { importExport, isExport } from './export.ts';

/** `roundfold store import`: sessions to search and recall, or the records of an export. */
export const importRecords: CommandDefinition = {
  name: 'import',
  summary:
    'put sessions into a store, to be searched and recalled, or the records of an export; what is there already stays',
  arguments: '<path...>',
  argumentHelp:
    'session files, folders of them, or what `roundfold store export` wrote; `-` reads standard input',
  options: [tenantOption, storeOption, jsonOption],
  examples: [
    [
      'roundfold store import ~/.claude/projects',
      'everything that was said to Claude Code; again for what is new',
    ],
    ['roundfold store import backup.jsonl', 'an export: all of it, or nothing when a line is damaged'],
    ['roundfold store export | roundfold store import - --store postgres://host/db', 'from one to another'],
  ],
  run: (given, report) => overStore(given, report, runImport),
};

async function runImport(work: StoreWork): Promise<ExitCode> {
  const { given, report, access } = work;
  const files = given.positional.flatMap((path) =>
    path === '-' ? ['-'] : findFiles(path).map((file) => file.path),
  );
  const [only] = files;
  if (files.length === 1 && only !== undefined) {
    const source = await fileSource(only);
    if (await isExport(source)) return importExport(work, source);
  }
  const before = countRecords((await access.forReading()?.list()) ?? []);
  const progress = startProgressLine(report.terminal, PROGRESS_DELAY_MS);
  const { value, stoppedWith } = await untilInterrupted(async (signal) => {
    const totals = { sessions: 0, spans: 0 };
    const codes: ExitCode[] = [];
    for (const [index, file] of files.entries()) {
      if (signal.aborted) break;
      const share = index / files.length;
      progress.update(() => `${shareBar(share, report.terminal)} of ${countOf(files.length, 'file')}`);
      try {
        const imported = await importSession(file, access.forWriting, given.text('tenant'));
        totals.sessions += imported.sessions;
        totals.spans += imported.spans;
      } catch (error) {
        if (!RoundfoldError.is(error) || error.code === 'store') throw error;
        progress.end();
        reportError(report, error, file);
        codes.push(exitCodeOf(error));
      }
    }
    return { ...totals, code: worstOf(codes) };
  }).finally(progress.end);
  const { sessions, spans, code } = value;
  if (sessions > 0) {
    const added = Math.max(0, countRecords((await access.forReading()?.list()) ?? []) - before);
    if (report.json) writeJson(report, 'import', { sessions, spans, added });
    else {
      const read = `${countOf(sessions, 'session')} with ${countOf(spans, 'span')}`;
      report.terminal.out(`imported ${read}; ${formatCount(added)} of them were new\n`);
    }
  }
  return stoppedWith ?? code;
}

const PROGRESS_DELAY_MS = 1000;

/**
 * Puts every conversation of a file into the store, which is opened when there is something to put in.
 * @throws RoundfoldError `input-not-understood` when there is no message in the file
 */
export async function importSession(
  file: string,
  open: () => Store,
  tenantName: string | undefined,
): Promise<{ readonly sessions: number; readonly spans: number }> {
  // Loaded here, so that help and other commands do without.
  const { restoreAll, sessionName, sessionSpans, tenantOf } = await import('../../session-archive.ts');
  let sessions = 0;
  let count = 0;
  for await (const recording of readRecordingsOf(file)) {
    if (recording.conversations.every(({ messages }) => messages.length === 0)) continue;
    const store = open();
    const tenant = await tenantOf(store, tenantName);
    const conversation = sessionName(recording.transcript, file);
    const spans = sessionSpans(recording, { tenant, conversation, createdAt: Date.now() });
    await restoreAll(
      store,
      spans.map((span) => ({ span })),
    );
    sessions++;
    count += spans.length;
  }
  if (sessions === 0) {
    throw new RoundfoldError('input-not-understood', 'no message found', {
      place: { source: file },
      remedy: 'Give a session file of an agent, a list of messages, or an export of a store.',
    });
  }
  return { sessions, spans: count };
}
