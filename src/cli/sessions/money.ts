import { printable } from '../../conversation/printable.ts';
import { moneyText } from '../../report/money-text.ts';
import { sessionMoney } from '../../report/session-money.ts';
import type { SessionRow } from '../../report/session-row.ts';
import { formatCost } from '../../report/sessions-text.ts';
import { type Recording, readRecordingsOf } from '../../transcripts/recordings.ts';
import { type Report, writeJson } from '../output.ts';

/** A session in the list, and every file that is part of it. */
export interface ListedSession {
  readonly row: SessionRow;
  readonly files: readonly string[];
}

/** Says of each session where its money went. Nothing is said of a session whose files count no tokens. */
export async function tellMoney(
  sessions: readonly ListedSession[],
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  for (const { row, files } of sessions) {
    if (signal.aborted) return;
    if (row.cost.responses === 0) continue;
    const money = await sessionMoney(await recordingsOf(row, files));
    const { file, agent, id } = row;
    if (report.json) {
      writeJson(report, 'money', { file, agent, id, ...money });
      continue;
    }
    const { terminal } = report;
    const name = printable(file, Number.POSITIVE_INFINITY);
    terminal.out(`\n${terminal.style('bold', name)}: ${formatCost(money.cost)} at list prices\n`);
    terminal.out(moneyText(money, (text) => terminal.style('bold', text)));
  }
}

/** What belongs to a session: a file may hold others, each with charges of its own. */
async function recordingsOf(row: SessionRow, files: readonly string[]): Promise<readonly Recording[]> {
  const found: Recording[] = [];
  for (const file of files) {
    let isOwn = false;
    for await (const recording of readRecordingsOf(file)) {
      const { charges, session } = recording.transcript;
      if (charges !== undefined) isOwn = session?.id === row.id;
      if (isOwn) found.push(recording);
    }
  }
  return found;
}
