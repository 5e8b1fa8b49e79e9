import { printable, printablePath } from '../../conversation/printable.ts';
import type { Estimate } from '../../lab/aggregate.ts';
import { harnessOfRow, isRecordedLevel, NONE } from '../../lab/measure-case.ts';
import { type FigureMeasure, type FigureName, figureMeasures } from '../../lab/measures.ts';
import { formatFigure } from '../../report/comparison.ts';
import { countOf, drawTable } from '../../report/terminal.ts';
import { type Terminal, wrapText } from '../terminal.ts';
import type { LostNeed, Summary, SummaryRow } from './summary.ts';

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

/** Between two columns, and in front of the first. */
const GAP = 2;
/** Room for `100.0`, and for `$0.0123`. */
const FIGURE_COLUMNS = 5;
const COST_COLUMNS = 7;

/** The measures that a terminal is wide enough for, beside names of rows and a cost, in the order of all measures. */
export function fittingMeasures(
  rows: readonly SummaryRow[],
  { columns, nameColumns }: { readonly columns: number; readonly nameColumns: number },
): readonly ComparedMeasure[] {
  let left = columns - GAP - nameColumns - GAP - COST_COLUMNS;
  const fitting = new Set<ComparedMeasure>();
  for (const figure of terminalOrder) {
    const measure = measures.find((one) => one.figure === figure);
    if (measure === undefined || !rows.some(({ figures }) => figures[figure] !== undefined)) continue;
    left -= GAP + widthOf(measure);
    if (left < 0) break;
    fitting.add(measure);
  }
  return measures.filter((measure) => fitting.has(measure));
}

function widthOf({ name }: ComparedMeasure): number {
  return Math.max(FIGURE_COLUMNS, ...name.split(' ').map(({ length }) => length));
}

/** Rows under headings that take as many lines as their words need. */
export function drawUnderHeadings(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nameColumns: number,
): string {
  const wrapped = headings.map((heading, column) => {
    const longest = Math.max(FIGURE_COLUMNS, ...rows.map((cells) => cells[column]?.length ?? 0));
    return wrapWords(heading, longest);
  });
  const height = Math.max(...wrapped.map(({ length }) => length));
  // A short heading stands right above its figures.
  const heads = Array.from({ length: height }, (_, line) =>
    wrapped.map((words) => words[line - height + words.length] ?? ''),
  );
  const columns = headings.map((_, column) =>
    column === 0 ? ({ align: 'left', maximum: nameColumns } as const) : ({ align: 'right' } as const),
  );
  return drawTable([...heads, ...rows], columns);
}

function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** A measure of a comparison. Terminal and page call it by its name, JSON by its figure. */
export interface ComparedMeasure extends FigureMeasure {
  /** Whether it has a chart of its own, against the tokens kept. */
  readonly isCharted: boolean;
}

const CHARTED: readonly FigureName[] = ['probes', 'names', 'boundFourWordsOrLine', 'editLines'];

/** Everything that is measured, in the order in which it is shown. */
export const measures: readonly ComparedMeasure[] = figureMeasures.map((measure) => ({
  ...measure,
  isCharted: CHARTED.includes(measure.figure),
}));

/** What a terminal shows as far as it is wide enough, the most important first. */
const terminalOrder: readonly FigureName[] = [
  'kept',
  'probes',
  'names',
  'boundFourWordsOrLine',
  'editLines',
  'demands',
  'lastCheck',
  'decisions',
  'stale',
  'changedFiles',
  'boundTwoWords',
  'illegal',
  'endsWithCurrentTurn',
];
