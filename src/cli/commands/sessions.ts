import { deflateRawSync } from 'node:zlib';
import { RoundfoldError } from '../../conversation/errors.ts';
import { printable } from '../../conversation/printable.ts';
import { renderSessionsPage } from '../../report/html/sessions-page.ts';
import { sumCosts } from '../../report/recorded-cost.ts';
import { type SessionRow, sessionsOf } from '../../report/session-row.ts';
import { agentTotals, type SessionTotals, sessionsText } from '../../report/sessions-text.ts';
import { countOf } from '../../report/terminal.ts';
import { sessionWriters, transcriptReaders } from '../../transcripts/registry.ts';
import { type CommandDefinition, type GivenArguments, jsonOption } from '../command.ts';
import type { ExaminedFile } from '../examine/examine-file.ts';
import { examineFiles } from '../examine/examine-files.ts';
import { findAgentFiles, findFiles, type SessionFile } from '../examine/find-files.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { checkOutputs, forceOption, writeOutput } from '../files.ts';
import { untilInterrupted } from '../interruption.ts';
import { type Report, writeJson } from '../output.ts';
import { sayInterrupted } from '../recordings.ts';
import { agentEnvironment } from '../session-output.ts';
import { type ListedSession, type Looks, lookInto } from '../sessions/look-into.ts';
import { tellMoney } from '../sessions/tell-money.ts';
import { startProgressLine, wrapText } from '../terminal.ts';

const ORDERS = {
  used: ({ usedAt }: SessionRow) => usedAt ?? '',
  started: ({ startedAt }: SessionRow) => startedAt ?? '',
  cost: ({ cost }: SessionRow) => cost.dollars,
  context: ({ contextTokens }: SessionRow) => contextTokens,
  rounds: ({ rounds }: SessionRow) => rounds,
} as const;

/** `roundfold sessions`: every session of every agent, what it cost, and how full it is. */
export const sessions: CommandDefinition = {
  name: 'sessions',
  summary: 'list the sessions of your agents: what each cost, how full it is, whether it is broken',
  arguments: '[path...]',
  argumentHelp:
    'folders and files to look at (default: where Claude Code, Codex, pi, OpenCode and Gemini CLI keep their sessions)',
  options: [
    {
      flags: '--sort <by>',
      help: 'what comes first (default used: the newest)',
      choices: Object.keys(ORDERS),
    },
    { flags: '--since <time>', help: 'only sessions used since then: 7d, 12h, or a date such as 2026-11-01' },
    {
      flags: '--agent <name>',
      help: 'only sessions of this agent',
      choices: [
        ...sessionWriters.map(({ name }) => name),
        ...transcriptReaders(() => undefined)
          .map(({ name }) => name)
          .filter((name) => !sessionWriters.some((writer) => writer.name === name)),
      ],
    },
    { flags: '--project <text>', help: 'only sessions whose folder has this in its path' },
    {
      flags: '--money',
      help: 'also say of each session what its money was spent on, what the cache missed, and what roundfold would save',
    },
    {
      flags: '--html <file>',
      help: 'also write a page there: a table to sort, filter and search, where each session opens a page of its own',
    },
    forceOption,
    jsonOption,
  ],
  examples: [
    ['roundfold sessions', 'everything, the newest first'],
    ['roundfold sessions --since 7d --sort cost', 'where the money of the last week went'],
    ['roundfold sessions session.jsonl --money', 'where the money of one session went'],
    ['roundfold sessions --html sessions.html', 'as a page'],
    ['roundfold sessions ./exports --json | jq .cost.dollars', 'of a folder, for a program'],
  ],
  run,
};

async function run(given: GivenArguments, report: Report): Promise<ExitCode> {
  checkOutputs(given, []);
  const since = readSince(given.text('since'), Date.now());
  const files =
    given.positional.length === 0 ? findAgentFiles(agentEnvironment()) : given.positional.flatMap(findFiles);
  if (files.length === 0) {
    throw new RoundfoldError('input-not-understood', 'no session files found', {
      remedy: 'Name a folder or files. Without them, the folders of the agents of this user are looked at.',
    });
  }
  const { value: looks, stoppedWith } = await untilInterrupted((signal) =>
    lookAtFiles(files, report, signal),
  );
  if (stoppedWith !== undefined)
    return sayInterrupted(report, stoppedWith, { done: looks.size, of: files.length, noun: 'file' });
  const listed = withSubagents([...looks.values()].flatMap((look) => look.found));
  const chosen = choose(listed, given, since);
  const rows = chosen.map(({ row }) => row);
  const unreadable = [...looks].filter(([, look]) => look.problem !== undefined);
  const totals = totalsOf(rows, unreadable.length);
  if (rows.length > 0 || listed.length === 0 || report.json) tell(rows, totals, report);
  else report.terminal.out(`none of ${countOf(listed.length, 'session')} is as asked for\n`);
  if (!report.json) sayUnreadable(unreadable, report);
  return given.flag('money') || given.text('html') !== undefined
    ? tellMore(chosen, looks, totals, { given, report })
    : exitCodes.done;
}

/** Explains the money of sessions, and writes the page. */
async function tellMore(
  chosen: readonly ListedSession[],
  looks: Looks,
  totals: SessionTotals,
  { given, report }: { readonly given: GivenArguments; readonly report: Report },
): Promise<ExitCode> {
  const { terminal } = report;
  const isReplayed = given.flag('money');
  const progress = startProgressLine(terminal, PROGRESS_DELAY_MS);
  const { value: told, stoppedWith } = await untilInterrupted((signal) =>
    lookInto(chosen, looks, { isReplayed, signal, terminal, progress }).finally(progress.end),
  );
  if (stoppedWith !== undefined) {
    const done = told.filter(({ details }) => details !== undefined).length;
    return sayInterrupted(report, stoppedWith, { done, of: told.length, noun: 'session' });
  }
  const out = writeOutput(given, 'html', () => renderSessionsPage(told, totals, deflateRawSync));
  if (out !== undefined) terminal.talk(`wrote ${printable(out, Number.POSITIVE_INFINITY)}\n`);
  if (isReplayed) tellMoney(told, report);
  return exitCodes.done;
}

type Look = ExaminedFile<SessionRow>;

/** The looks by file, in the order of the files. The largest are read first, so that no thread is left with one at the end. */
async function lookAtFiles(
  files: readonly SessionFile[],
  { terminal }: Report,
  signal: AbortSignal,
): Promise<Looks> {
  const found = new Map<string, Look>();
  const progress = startProgressLine(terminal, PROGRESS_DELAY_MS);
  await examineFiles<SessionRow>(
    files.toSorted((left, right) => right.sizeBytes - left.sizeBytes),
    {
      task: { command: 'sessions', reading: {} },
      examine: sessionsOf,
      signal,
      terminal,
      progress,
      onExamined: ({ path }, look) => void found.set(path, look),
    },
  ).finally(progress.end);
  return new Map(files.flatMap(({ path }) => (found.has(path) ? [[path, found.get(path) as Look]] : [])));
}

const PROGRESS_DELAY_MS = 1000;

/** Sub-agents that have files of their own belong to the session that called them. */
function withSubagents(rows: readonly SessionRow[]): readonly ListedSession[] {
  const mains = new Map<string, SessionRow>();
  const keyOf = ({ agent, id }: SessionRow) => `${agent}\n${id}`;
  for (const row of rows) if (!row.isSideChain && row.id !== undefined) mains.set(keyOf(row), row);
  const added = new Map<SessionRow, SessionRow[]>();
  const alone: SessionRow[] = [];
  for (const row of rows) {
    const main = row.isSideChain ? mains.get(keyOf(row)) : undefined;
    if (main === undefined) alone.push(row);
    else added.set(main, [...(added.get(main) ?? []), row]);
  }
  return alone.map((row) => {
    const agents = added.get(row) ?? [];
    const parts = [row, ...agents] as const;
    if (agents.length === 0) return { row, parts };
    const cost = sumCosts(parts.map((part) => part.cost));
    return { row: { ...row, subagents: row.subagents + agents.length, cost }, parts };
  });
}

function choose(
  sessions: readonly ListedSession[],
  given: GivenArguments,
  since: string,
): readonly ListedSession[] {
  const agent = given.text('agent');
  const project = given.text('project')?.toLowerCase();
  const order = ORDERS[(given.text('sort') ?? 'used') as keyof typeof ORDERS]; // one of the choices
  return sessions
    .filter(({ row }) => agent === undefined || row.agent === agent)
    .filter(({ row }) => project === undefined || row.project?.toLowerCase().includes(project) === true)
    .filter(({ row }) => since === '' || (row.usedAt ?? '') >= since)
    .toSorted((left, right) => {
      const [one, other] = [order(left.row), order(right.row)];
      return one === other ? 0 : one < other ? 1 : -1;
    });
}

const MS_PER = { d: 86_400_000, h: 3_600_000 } as const;

/**
 * The time from which on sessions count, as ISO 8601; empty for all times.
 * @throws RoundfoldError `usage` for what is no time
 */
function readSince(text: string | undefined, nowMs: number): string {
  if (text === undefined) return '';
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  if (count !== undefined)
    return new Date(nowMs - Number(count) * MS_PER[unit === 'h' ? 'h' : 'd']).toISOString();
  const dateMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(dateMs)) return new Date(dateMs).toISOString();
  throw new RoundfoldError('usage', `--since wants a time, not ${JSON.stringify(text.slice(0, 40))}`, {
    remedy: 'For example 7d, 12h or 2026-11-01.',
  });
}

function totalsOf(rows: readonly SessionRow[], unreadable: number): SessionTotals {
  const broken = rows.filter(({ fault }) => fault !== undefined).length;
  return {
    cost: sumCosts(rows.map(({ cost }) => cost)),
    legal: rows.length - broken,
    broken,
    unreadable,
    agents: agentTotals(rows),
  };
}

function tell(rows: readonly SessionRow[], totals: SessionTotals, report: Report): void {
  if (!report.json) {
    report.terminal.out(sessionsText(rows, totals, { ...report.terminal, wrap: wrapText }));
    return;
  }
  for (const row of rows) writeJson(report, 'session', row);
  writeJson(report, 'sessions', { sessions: rows.length, ...totals });
}

const SHOWN_UNREADABLE = 5;

function sayUnreadable(unreadable: readonly (readonly [string, Look])[], { terminal }: Report): void {
  for (const [file, { problem }] of unreadable.slice(0, SHOWN_UNREADABLE))
    terminal.talk(
      `unreadable: ${printable(`${file}: ${problem?.message ?? ''}`, Number.POSITIVE_INFINITY)}\n`,
    );
  const rest = unreadable.length - SHOWN_UNREADABLE;
  if (rest > 0) terminal.talk(`and ${rest} more files that hold no session\n`);
}
