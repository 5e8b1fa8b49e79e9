import { printable } from '../../conversation/printable.ts';
import { sessionWriters } from '../../transcripts/registry.ts';
import { shellWord } from '../../transcripts/session-writer.ts';
import type { SessionDetails, SessionFault } from '../session-details.ts';
import type { SessionRow } from '../session-row.ts';
import { formatCost } from '../sessions-text.ts';
import { countOf, formatTime } from '../terminal.ts';
import { sessionParts } from './inspection-page.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { moneyTables, spentChart } from './money-section.ts';
import { section, table } from './page.ts';
import { sizeParts } from './receipt-page.ts';
import type { Detail } from './rounds.ts';

/** A session of the list, with what its own page tells. */
export interface ToldSession {
  readonly row: SessionRow;
  /** Undefined where it could not be looked into. */
  readonly details: SessionDetails | undefined;
}

/** Charts are as wide as on other pages, lists shorter: there may be thousands of these. */
const DETAIL: Detail = {
  chartPoints: 120,
  chartHeightPixels: 220,
  roundRows: 12,
  listRows: 5,
  namedTools: 5,
  hasRounds: true,
};

/** The page of one session, for inside the page of all. */
export function sessionArticle(row: SessionRow, details: SessionDetails): Markup {
  const { title, about, notes, inspection, series, money, spent, compacted } = details;
  const inspected = { file: row.file, title, about, notes, inspection, series };
  const parts = sessionParts(inspected, { id: 'session', detail: DETAIL, part: section });
  return html`
    <p class="note"><a href="#">All sessions</a></p>
    <h2 id="session-name" tabindex="-1">${quoted(row.prompt === '' ? 'Session without a prompt' : row.prompt, 200)}</h2>
    <p class="lead">${leadOf(row)}</p>
    <p class="note">${quotedPath(row.file, 400)}</p>
    ${brokenSection(row, details)}
    ${parts}
    ${money.cost.responses === 0 ? undefined : section('session-money', `Cost: ${formatCost(money.cost)} at list prices`, [spentChart(spent), moneyTables(money)])}
    ${section('session-compacted', 'What a compaction would leave', compactedParts(row, details, compacted))}`;
}

function leadOf({ agent, model, project, branch, startedAt, usedAt, subagents }: SessionRow): Markup {
  const time = (text: string | undefined) => (text === undefined ? '?' : formatTime(Date.parse(text)));
  const facts = [
    agent,
    ...(model === undefined ? [] : [printable(model, 40)]),
    ...(project === undefined ? [] : [printable(project, 120)]),
    ...(branch === undefined ? [] : [`branch ${printable(branch, 60)}`]),
    `${time(startedAt)} to ${time(usedAt)}`,
    ...(subagents === 0 ? [] : [countOf(subagents, 'sub-agent')]),
  ];
  return html`${facts.map((fact, index) => html`${index === 0 ? '' : ' · '}<bdi>${fact}</bdi>`)}`;
}

function brokenSection(row: SessionRow, { faults }: SessionDetails): Markup | undefined {
  if (row.fault === undefined) return undefined;
  const known = faults.length > 0 ? faults : [{ message: row.fault, fix: '', line: null }];
  return section('session-broken', 'A provider would refuse it', [
    table<SessionFault>(
      known,
      [
        {
          heading: 'what is wrong',
          isRowHeading: true,
          cell: ({ message, fix }) => html`${quoted(message, 400)}<small>${quoted(fix, 400)}</small>`,
        },
        { heading: 'line', isNumber: true, cell: ({ line }) => (line === null ? '?' : String(line)) },
      ],
      { caption: 'The first faults' },
    ),
    commandLine('Mend a copy of it, and go on', mendCommand(row)),
  ]);
}

function compactedParts(
  row: SessionRow,
  { conversation }: SessionDetails,
  compacted: SessionDetails['compacted'],
): readonly (Markup | undefined)[] {
  if (compacted === undefined) return [html`<p>Nothing: there is nothing in it to make smaller.</p>`];
  return [
    ...sizeParts(compacted.before, compacted.after),
    commandLine('Go on with that; the session stays as it is', compactCommand(row, conversation)),
  ];
}

function commandLine(what: string, command: string): Markup {
  return html`<p class="note">${what}:</p><pre class="command">${command}</pre>`;
}

function canBeResumed({ agent }: SessionRow): boolean {
  return sessionWriters.some(({ name }) => name === agent);
}

/** A database holds many sessions: the agent itself takes one out. */
function mendCommand(row: SessionRow): string {
  const { file, id } = row;
  const isDatabase = file.endsWith('.db') && id !== undefined;
  const source = isDatabase ? `${id}.json` : file;
  const fix = `roundfold check ${shellWord(source)} --fix${canBeResumed(row) ? ' --resume' : ''}`;
  return isDatabase ? `opencode export ${shellWord(id)} > ${shellWord(source)} && ${fix}` : fix;
}

function compactCommand(row: SessionRow, conversation: number): string {
  const which = conversation === 1 ? '' : ` --conversation ${conversation}`;
  const where = canBeResumed(row) ? '--resume' : '--out smaller.json';
  return `roundfold compact ${shellWord(row.file)}${which} ${where}`;
}
