import type { Estimate } from '../../lab/aggregate.ts';
import { isRecordedLevel } from '../../lab/measure-case.ts';
import { type FigureName, keptMeasure } from '../../lab/measures.ts';
import type { ComparedRow, Comparison, LostItem } from '../../report/comparison.ts';
import { countOf } from '../../report/terminal.ts';
import type { JobResult } from './jobs.ts';
import { compactsWhen } from './recording.ts';
import type { Summary, SummaryRow } from './summary.ts';
import { type ComparedMeasure, measures } from './table.ts';

/** How many sessions have a chart on the page. Of more, the largest are shown. */
const SHOWN_SESSIONS = 100;

/** The comparison as the page tells it. */
export function toComparison(summary: Summary, results: readonly JobResult[]): Comparison {
  const recordings = results.flatMap((result) => result.recordings);
  const examples = recordings.flatMap(({ session, example }) =>
    example === undefined ? [] : [{ file: session, ...example }],
  );
  const [example] = examples.toSorted((left, right) => right.tokens - left.tokens);
  const names = [...new Set(summary.rows.map(({ row }) => row))];
  const shown = measures.filter(({ figure }) => figure !== keptMeasure.figure && isMeasured(summary, figure));
  return {
    title: 'What each strategy keeps of what the agent needs later',
    about: aboutOf(summary),
    kept: keptMeasure,
    measures: shown,
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

function toComparedRow(rows: readonly SummaryRow[], shown: readonly ComparedMeasure[]): ComparedRow {
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
