import type { Estimate } from '../charts/curve-chart.ts';
import type { ComparedPoint, ComparedRow, Comparison, LostItem, Measure } from '../comparison.ts';
import { formatFigure, formatInterval } from './figures.ts';
import { html, type Markup, quoted } from './markup.ts';
import { type TableColumn, table } from './table.ts';

/** One row at one budget. */
interface PanelLine {
  readonly row: ComparedRow;
  readonly point: ComparedPoint;
  readonly oracle: ComparedPoint | undefined;
  /** For each measure, whether this line has the best figure of its budget. */
  readonly isBest: readonly boolean[];
  readonly startsBudget: boolean;
}

const KIND_WORDS = {
  strategy: undefined,
  peer: 'another library',
  recorded: 'recorded in the session',
  control: 'control',
  oracle: 'the best possible',
} as const;

/** Every figure with its interval and, where there is an oracle, as a share of the possible. */
export function panelTable({ rows, kept, measures }: Comparison): Markup | undefined {
  const lines = panelLines(rows, measures);
  const hasOracle = lines.some(({ oracle }) => oracle !== undefined);
  const hasCost = lines.some(({ point }) => point.costDollars !== undefined);
  return table(
    lines,
    [
      { heading: 'row', isRowHeading: true, cell: ({ row }) => nameOfRow(row) },
      { heading: kept.name, isNumber: true, cell: ({ point }) => percentOf(point.keptShare) },
      ...measures.map((measure, index) => measureColumn(measure, index)),
      ...(hasOracle ? [possibleColumn(measures)] : []),
      ...(hasCost ? [costColumn] : []),
    ],
    {
      caption: 'Mean over sessions, with the 95 % interval below; the best of each budget in bold',
      isWide: true,
      groupName: ({ point, startsBudget }) => (startsBudget ? nameOfBudget(point.budgetShare) : undefined),
    },
  );
}

/** Terminal and page call it the same. */
const COST = { name: 'cost', unit: 'dollars' } as const;

const costColumn: TableColumn<PanelLine> = {
  heading: COST.name,
  isNumber: true,
  cell: ({ point: { costDollars } }) => (costDollars === undefined ? '' : formatFigure(costDollars, COST)),
};

function measureColumn(measure: Measure, index: number): TableColumn<PanelLine> {
  return {
    heading: measure.name,
    isNumber: true,
    cell({ point, isBest }) {
      const figure = point.figures[index];
      if (figure === undefined) return '';
      const words = formatFigure(figure.value, measure);
      return html`${isBest[index] === true ? html`<strong>${words}</strong>` : words}${small(formatInterval(figure, measure))}`;
    },
  };
}

/** The figures that have charts and that the oracle aims at, as shares of what it reached with the same budget. */
function possibleColumn(measures: readonly Measure[]): TableColumn<PanelLine> {
  return {
    heading: 'of the possible',
    isNumber: true,
    cell({ row, point, oracle }) {
      if (row.kind === 'oracle' || oracle === undefined) return '';
      const shares = measures.flatMap(({ isCharted }, index) =>
        isCharted === true && oracle.figures[index] !== undefined
          ? [shareOf(point.figures[index], oracle.figures[index])]
          : [],
      );
      return `${shares.join(' / ')} %`;
    },
  };
}

function small(words: string): Markup | undefined {
  return words === '' ? undefined : html`<small>${words}</small>`;
}

function shareOf(figure: Estimate | undefined, possible: Estimate | undefined): string {
  if (figure === undefined || possible === undefined || !(possible.value > 0)) return '–';
  return ((100 * figure.value) / possible.value).toFixed(0);
}

function nameOfRow({ name, kind }: ComparedRow): Markup {
  return html`${quoted(name, 40)}${small(KIND_WORDS[kind] ?? '')}`;
}

function nameOfBudget(share: number | undefined): string {
  return share === undefined ? 'Without a budget' : `Budget: ${percentOf(share)} of the tokens`;
}

function percentOf(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

function panelLines(rows: readonly ComparedRow[], measures: readonly Measure[]): readonly PanelLine[] {
  const budgets = [...new Set(rows.flatMap(({ points }) => points.map(({ budgetShare }) => budgetShare)))];
  // Rows without a budget come last.
  budgets.sort((left, right) => (right ?? -1) - (left ?? -1));
  return budgets.flatMap((budget) => {
    const group = rows.flatMap((row) =>
      row.points.filter(({ budgetShare }) => budgetShare === budget).map((point) => ({ row, point })),
    );
    const oracle = group.find(({ row }) => row.kind === 'oracle')?.point;
    const best = measures.map((measure, index) => bestOf(group, measure, index));
    return group.map(({ row, point }, index) => ({
      row,
      point,
      oracle,
      isBest: best.map(
        (value, measure) =>
          competes(row, point) && value !== undefined && point.figures[measure]?.value === value,
      ),
      startsBudget: index === 0,
    }));
  });
}

function competes({ kind }: ComparedRow, { isOverBudget }: ComparedPoint): boolean {
  return (kind === 'strategy' || kind === 'peer' || kind === 'recorded') && isOverBudget !== true;
}

/** The best figure of those that compete; undefined when all are the same. */
function bestOf(
  group: readonly { readonly row: ComparedRow; readonly point: ComparedPoint }[],
  { isLessBetter = false }: Measure,
  index: number,
): number | undefined {
  const values = group
    .filter(({ row, point }) => competes(row, point))
    .flatMap(({ point }) => point.figures[index]?.value ?? []);
  if (new Set(values).size < 2) return undefined;
  return isLessBetter ? Math.min(...values) : Math.max(...values);
}

/** So many losses are listed: the first are the most telling ones. */
const LISTED_LOSSES = 200;

/** What later calls needed and did not find any more. */
export function lostTable(lost: readonly LostItem[]): Markup | undefined {
  return table(
    lost,
    [
      {
        heading: 'lost',
        isRowHeading: true,
        cell: ({ what, kind }) => html`<code>${quoted(what, 90)}</code><small>${quoted(kind, 40)}</small>`,
      },
      {
        heading: 'by',
        cell: ({ row, budgetShare, session }) =>
          html`${quoted(row, 40)}${budgetShare === undefined ? undefined : html` <span class="nowrap">at ${percentOf(budgetShare)}</span>`}<small>${quoted(session, 50)}</small>`,
      },
      {
        heading: 'stood in',
        cell: ({ stoodIn }) => quoted(stoodIn, 70),
      },
      {
        heading: 'needed by',
        cell: ({ neededBy, roundsLater }) =>
          html`<code>${quoted(neededBy, 90)}</code>${roundsLater === undefined ? undefined : html`<small>${later(roundsLater)}</small>`}`,
      },
    ],
    {
      caption: 'What a later call needed and the context no longer held',
      isWide: true,
      limit: LISTED_LOSSES,
      noun: 'loss',
    },
  );
}

function later(rounds: number): string {
  return rounds === 1 ? '1 round later' : `${rounds} rounds later`;
}
