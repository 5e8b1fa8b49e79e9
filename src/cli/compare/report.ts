import { printable, printablePath } from '../../conversation/printable.ts';
import type { Estimate } from '../../lab/aggregate.ts';
import { harnessOfRow, isRecordedLevel, NONE } from '../../lab/measure.ts';
import { type FigureMeasure, type FigureName, figureMeasures, keptMeasure } from '../../lab/measures.ts';
import { type ComparedRow, type Comparison, formatFigure, type LostItem } from '../../report/comparison.ts';
import { countOf, drawTable } from '../../report/terminal.ts';
import { type Terminal, wrapText } from '../terminal.ts';
import type { JobResult } from './jobs.ts';
import { compactsWhen } from './recording.ts';
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

function drawRows(rows: readonly SummaryRow[], shown: readonly FigureMeasure[]): string {
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

function helpText({ rows }: Summary, shown: readonly FigureMeasure[], terminal: Terminal): string {
  const others = figureMeasures.filter((measure) => !shown.includes(measure));
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
): readonly FigureMeasure[] {
  let left = columns - GAP - nameColumns - GAP - COST_COLUMNS;
  const fitting = new Set<FigureMeasure>();
  for (const figure of terminalOrder) {
    const measure = figureMeasures.find((one) => one.figure === figure);
    if (measure === undefined || !rows.some(({ figures }) => figures[figure] !== undefined)) continue;
    left -= GAP + widthOf(measure);
    if (left < 0) break;
    fitting.add(measure);
  }
  return figureMeasures.filter((measure) => fitting.has(measure));
}

function widthOf({ name }: FigureMeasure): number {
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
    return wrapText(heading, longest).split('\n');
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

/** How many sessions have a chart on the page. Of more, the largest are shown. */
const SHOWN_SESSIONS = 100;

/** Measures that have a chart of their own, against the tokens kept. */
const CHARTED: readonly FigureName[] = ['probes', 'names', 'boundFourWordsOrLine', 'editLines'];

/** The comparison as the page tells it. */
export function toComparison(summary: Summary, results: readonly JobResult[]): Comparison {
  const recordings = results.flatMap((result) => result.recordings);
  const examples = recordings.flatMap(({ session, example }) =>
    example === undefined ? [] : [{ file: session, ...example }],
  );
  const [example] = examples.toSorted((left, right) => right.tokens - left.tokens);
  const names = [...new Set(summary.rows.map(({ row }) => row))];
  const shown = figureMeasures.filter(
    ({ figure }) => figure !== keptMeasure.figure && isMeasured(summary, figure),
  );
  return {
    title: 'What each strategy keeps of what the agent needs later',
    about: aboutOf(summary),
    kept: keptMeasure,
    measures: shown.map((measure) => ({ ...measure, isCharted: CHARTED.includes(measure.figure) })),
    rows: names.map((name) =>
      toComparedRow(
        summary.rows.filter(({ row }) => row === name),
        shown,
      ),
    ),
    lost: lostItems(summary),
    sessions: sessionsOf(summary, recordings),
    example,
  };
}

function aboutOf({ sessions, leftOut, settings, rows }: Summary): readonly string[] {
  const models = [...new Set(sessions.flatMap(({ model }) => model ?? []))];
  const illegal = rows
    .filter(({ kind }) => kind === 'strategy')
    .reduce((sum, row) => sum + row.illegalOutputs, 0);
  return [
    countOf(sessions.length, 'session'),
    `${settings.cuts} cuts each`,
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} left out`]),
    ...(models.length === 0 ? ['no prices known'] : [`prices of ${listed(models)}`]),
    `${countOf(illegal, 'illegal output')} of the strategies`,
  ];
}

const NAMED_MODELS = 3;

function listed(models: readonly string[]): string {
  const more = models.length - NAMED_MODELS;
  return `${models.slice(0, NAMED_MODELS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Whether a figure says anything: without handles in any output, names by handle are the names. */
function isMeasured({ rows }: Summary, figure: FigureName): boolean {
  if (figure === 'namesByHandle')
    return rows.some(({ figures }) => figures.namesByHandle?.mean !== figures.names?.mean);
  return rows.some(({ figures }) => figures[figure] !== undefined);
}

/** A row that keeps more than this multiple of its budget does not compete. */
const OVER_BUDGET = 1.1;

function toComparedRow(rows: readonly SummaryRow[], shown: readonly FigureMeasure[]): ComparedRow {
  const [first] = rows;
  return {
    name: first?.row ?? '',
    kind: first?.kind ?? 'strategy',
    compacts: first?.kind === 'strategy' ? compactsWhen(first.row) : undefined,
    points: rows.map((row) => ({
      budgetShare: row.budget === undefined ? undefined : row.budget / 100,
      keptShare: row.figures.kept?.mean ?? 0,
      costDollars: row.cost?.mean,
      isAside: row.kind !== 'recorded' && isRecordedLevel(row.level),
      isOverBudget:
        row.budget !== undefined && (row.figures.kept?.mean ?? 0) * 100 > row.budget * OVER_BUDGET,
      figures: shown.map(({ figure }) => toFigure(row.figures[figure])),
    })),
  };
}

function toFigure(figure: Estimate | undefined) {
  return figure === undefined ? undefined : { value: figure.mean, low: figure.low, high: figure.high };
}

/** Each loss of a row once, at the largest budget that did not save it. */
function lostItems({ lost, rows }: Summary): readonly LostItem[] {
  const budgets = new Map(rows.map(({ row, level, budget }) => [JSON.stringify([row, level]), budget]));
  const items = lost.map(({ level, ...need }) => ({
    ...need,
    budgetShare: (budgets.get(JSON.stringify([need.row, level])) ?? 0) / 100,
  }));
  const groups = Map.groupBy(items, ({ session, row, what }) => JSON.stringify([session, row, what]));
  return [...groups.values()].flatMap((group) =>
    group.toSorted((left, right) => right.budgetShare - left.budgetShare).slice(0, 1),
  );
}

/** The largest first: they have most to show. */
function sessionsOf({ sessions }: Summary, recordings: JobResult['recordings']): Comparison['sessions'] {
  const pictures = new Map(
    recordings.flatMap(({ session, picture }) =>
      picture === undefined ? [] : [[session, picture] as const],
    ),
  );
  return sessions
    .toSorted((left, right) => right.tokens - left.tokens)
    .flatMap(({ name }) => {
      const picture = pictures.get(name);
      return picture === undefined ? [] : [{ name, ...picture }];
    })
    .slice(0, SHOWN_SESSIONS);
}
