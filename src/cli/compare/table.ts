import { printable, printablePath } from '../../core/printable.ts';
import type { Estimate } from '../../lab/aggregate.ts';
import { harnessOfRow, isRecordedLevel, NONE } from '../../lab/measure-case.ts';
import { formatFigure } from '../../report/html/figures.ts';
import { countOf, drawTable } from '../../report/terminal.ts';
import type { Terminal } from '../terminal.ts';
import { wrapText } from '../wrap-text.ts';
import type { LostNeed } from './lost.ts';
import { keptMeasure, measures } from './measures.ts';
import type { Summary, SummaryRow } from './summary.ts';

const NAME_COLUMNS = 24;

/** The columns of the table. */
const COLUMNS = [keptMeasure, ...measures.filter(({ isInTerminal }) => isInTerminal)];

/** The comparison for a terminal of 80 columns. */
export function summaryText(summary: Summary, terminal: Terminal): string {
  const levels = Map.groupBy(
    summary.rows.filter(({ row }) => row !== NONE),
    ({ level }) => level,
  );
  const none = summary.rows.find(({ row, kind }) => row === NONE && kind === 'control');
  const tables = [...levels].map(([level, rows]) => {
    const title = terminal.style('bold', titleOf(level, rows));
    const isRecorded = rows.some(({ kind }) => kind === 'recorded');
    return `${title}\n${drawRows(none === undefined || isRecorded ? rows : [...rows, none])}`;
  });
  return [...tables, `${helpText(summary, terminal)}\n`, ...lostTexts(summary, terminal)].join('\n');
}

function titleOf(level: string, rows: readonly SummaryRow[]): string {
  const cuts = Math.max(...rows.map((row) => row.cuts));
  const sessions = Math.max(...rows.map(({ figures }) => figures.tokensKept?.sessions ?? 0));
  const budget = isRecordedLevel(level) ? `The ${level}` : `${level} of the tokens`;
  return `${budget} (${countOf(sessions, 'session')}, ${countOf(cuts, 'cut')})`;
}

function drawRows(rows: readonly SummaryRow[]): string {
  const hasCost = rows.some(({ cost }) => cost !== undefined);
  const head = ['', ...COLUMNS.map(({ name }) => name), ...(hasCost ? ['cost'] : [])];
  const lines = rows.map((row) => [
    row.row,
    ...COLUMNS.map(({ figure }) => percent(figure === 'rereadTokens' ? undefined : row.figures[figure])),
    ...(hasCost ? [row.cost === undefined ? '' : formatFigure(row.cost.mean, { unit: 'dollars' })] : []),
  ]);
  const right = { align: 'right' } as const;
  return drawTable(
    [head, ...lines],
    [{ align: 'left', maximum: NAME_COLUMNS }, ...head.slice(1).map(() => right)],
  );
}

function percent(figure: Estimate | undefined): string {
  return figure === undefined ? '–' : (figure.mean * 100).toFixed(1);
}

function helpText({ rows }: Summary, terminal: Terminal): string {
  const words = [
    'In percent, as means over sessions.',
    ...COLUMNS.map(({ name, help }) => `${name}: ${help.charAt(0).toLowerCase()}${help.slice(1)}`),
    ...(rows.some(({ cost }) => cost !== undefined)
      ? [
          'cost: of a session, replayed through a prompt cache; ladder compacts when that pays, the others when the window is full.',
        ]
      : []),
    'recency only, random rounds and the two dumps are controls; oracle knows the future and is the most that any text of this size could reach.',
    ...illegalWords(rows),
  ];
  const lines = wrapText(words.join(' '), terminal.columns, '').split('\n');
  return lines.map((line) => terminal.style('dim', line)).join('\n');
}

function illegalWords(rows: readonly SummaryRow[]): readonly string[] {
  const illegal = rows.filter((row) => row.illegal > 0);
  return illegal.map(
    ({ row, level, illegal: count, brokenRules }) =>
      `${countOf(count, 'output')} of ${row} at ${level} would be refused (${brokenRules.join(', ')}).`,
  );
}

const SHOWN_LOSSES = 5;

/** What the first strategy lost at its largest budget, and what the harness itself forgot. */
function lostTexts({ lost, rows, settings }: Summary, terminal: Terminal): readonly string[] {
  const largest = rows.find(({ row }) => row === settings.strategies[0]);
  const recorded = rows.filter(({ kind }) => kind === 'recorded');
  const shown = [...(largest === undefined ? [] : [largest]), ...recorded];
  return shown.flatMap(({ row, level, kind }) => {
    const items = lost.filter((need) => need.row === row && need.level === level);
    if (items.length === 0) return [];
    const title = kind === 'recorded' ? `Forgotten by ${harnessOfRow(row)}` : `Lost by ${row} at ${level}`;
    const lines = items.slice(0, SHOWN_LOSSES).map((need) => lossText(need, terminal));
    return [`${terminal.style('bold', title)}\n${lines.join('')}`];
  });
}

function lossText({ what, kind, stoodIn, neededBy, roundsLater }: LostNeed, terminal: Terminal): string {
  const width = terminal.columns - 6;
  const later = roundsLater === undefined ? '' : ` ${countOf(roundsLater, 'round')} later`;
  const use = roundsLater === undefined ? neededBy : `needed${later} by ${neededBy}`;
  return [
    `  ${printable(what, terminal.columns - kind.length - 5)} ${terminal.style('dim', `(${kind})`)}\n`,
    `      ${printable(stoodIn, width)}\n`,
    `      ${printable(use, width)}\n`,
  ].join('');
}

/** The sessions that were not compared, and why. */
export function leftOutText({ leftOut }: Summary): string {
  return leftOut.map(({ session, reason }) => `left out: ${printablePath(session)}: ${reason}\n`).join('');
}
