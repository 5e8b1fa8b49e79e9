import { printable, printablePath } from '../../conversation/printable.ts';
import type { Estimate } from '../../lab/aggregate.ts';
import { harnessOfRow, isRecordedLevel, NONE } from '../../lab/measure.ts';
import { formatFigure } from '../../report/html/figures.ts';
import { countOf } from '../../report/terminal.ts';
import type { Terminal } from '../terminal.ts';
import { wrapText } from '../wrap-text.ts';
import { drawUnderHeadings, fittingMeasures } from './columns.ts';
import type { LostNeed } from './lost.ts';
import { type ComparedMeasure, measures } from './measures.ts';
import type { Summary, SummaryRow } from './summary.ts';

/** Longer names of rows are cut. */
const NAME_COLUMNS = 23;

/** The comparison for a terminal: as many measures as it is wide enough for. */
export function summaryText(summary: Summary, terminal: Terminal): string {
  const levels = Map.groupBy(
    summary.rows.filter(({ row }) => row !== NONE),
    ({ level }) => level,
  );
  const nameColumns = Math.min(NAME_COLUMNS, Math.max(...summary.rows.map(({ row }) => row.length)));
  const shown = fittingMeasures(summary.rows, { columns: terminal.columns, nameColumns });
  const none = summary.rows.find(({ row, kind }) => row === NONE && kind === 'control');
  const tables = [...levels].map(([level, rows]) => {
    const title = terminal.style('bold', titleOf(level, rows));
    const isRecorded = rows.some(({ kind }) => kind === 'recorded');
    return `${title}\n${drawRows(none === undefined || isRecorded ? rows : [...rows, none], shown)}`;
  });
  return [...tables, `${helpText(summary, shown, terminal)}\n`, ...lostTexts(summary, terminal)].join('\n');
}

function titleOf(level: string, rows: readonly SummaryRow[]): string {
  const cuts = Math.max(...rows.map((row) => row.cuts));
  const sessions = Math.max(...rows.map(({ figures }) => figures.kept?.sessions ?? 0));
  const budget = isRecordedLevel(level) ? `The ${level}` : `${level} of the tokens`;
  return `${budget} (${countOf(sessions, 'session')}, ${countOf(cuts, 'cut')})`;
}

function drawRows(rows: readonly SummaryRow[], shown: readonly ComparedMeasure[]): string {
  const hasCost = rows.some(({ cost }) => cost !== undefined);
  const headings = ['', ...shown.map(({ name }) => name), ...(hasCost ? ['cost'] : [])];
  const lines = rows.map((row) => [
    row.row,
    ...shown.map(({ figure }) => percent(row.figures[figure])),
    ...(hasCost ? [row.cost === undefined ? '' : formatFigure(row.cost.mean, { unit: 'dollars' })] : []),
  ]);
  return drawUnderHeadings(headings, lines, NAME_COLUMNS);
}

function percent(figure: Estimate | undefined): string {
  return figure === undefined ? '–' : (figure.mean * 100).toFixed(1);
}

function helpText({ rows }: Summary, shown: readonly ComparedMeasure[], terminal: Terminal): string {
  const others = measures.filter((measure) => !shown.includes(measure));
  const words = [
    'In percent, as means over sessions.',
    ...shown.map(({ name, help }) => `${name}: ${help.charAt(0).toLowerCase()}${help.slice(1)}`),
    ...(rows.some(({ cost }) => cost !== undefined)
      ? [
          'cost: of a session, replayed through a prompt cache; ladder compacts when that pays, the others when the window is full.',
        ]
      : []),
    'recency only, random rounds and the two dumps are controls; oracle knows the future: it keeps as many names and edit lines as any text of this size could.',
    ...illegalWords(rows),
    `--json and --html also tell: ${others.map(({ name }) => name).join(', ')}.`,
  ];
  const lines = wrapText(words.join(' '), terminal.columns, '').split('\n');
  return lines.map((line) => terminal.style('dim', line)).join('\n');
}

function illegalWords(rows: readonly SummaryRow[]): readonly string[] {
  const illegal = rows.filter((row) => row.illegalOutputs > 0);
  return illegal.map(
    ({ row, level, illegalOutputs: count, brokenRules }) =>
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
