import { printable } from '../../conversation/printable.ts';
import {
  type ComparedPoint,
  type ComparedRow,
  type ComparedSession,
  type Comparison,
  formatFigure,
  formatInterval,
  type LostItem,
  type Measure,
} from '../comparison.ts';
import { countOf } from '../terminal.ts';
import {
  type Axis,
  axisTo,
  curveChart,
  type Estimate,
  key,
  lookOf,
  oracleLook,
  type SeriesLook,
} from './charts.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { figureColumn, folded, renderPage, section, type TableColumn, table } from './page.ts';
import { receiptParts } from './receipt-page.ts';
import { type Detail, detailFor, roundsFigure, severalSeriesFigure } from './rounds.ts';

/** How strategies did on the same sessions, as one self-contained page. */
export function renderComparisonPage(comparison: Comparison): string {
  const { title, about, lost, sessions, example } = comparison;
  const recall = recallCharts(comparison);
  const cost = costCharts(comparison);
  const parts = [
    recall === undefined
      ? undefined
      : section('recall', 'Recall against tokens kept', [
          html`<p>How much of what the agent needed later is still there. Whiskers are 95 % intervals over sessions; the dashed line is the most names or edit lines that any text of this size could keep.</p>`,
          recall,
        ]),
    cost.length === 0
      ? undefined
      : section('cost', 'Cost against recall', [
          html`<p>Of a session, replayed through a prompt cache. Further up and to the left is better. When a strategy compacts decides what it costs: only those that compact at the same moments share a chart.</p>`,
          ...cost,
        ]),
    section('figures', 'Figures', [measureList(comparison), panelTable(comparison)]),
    lost.length === 0
      ? undefined
      : section('lost', 'What was lost', [
          html`<p>Each of these was needed by a later call of the recorded session, or would have answered a question of somebody who takes over.</p>`,
          lostTable(lost),
        ]),
    sessions.length === 0
      ? undefined
      : section('sessions', 'Tokens per round', [
          html`<p>${countOf(sessions.length, 'session')}, replayed turn by turn.</p>`,
          ...sessions.map((one, index) => sessionDetails(one, index, detailFor(sessions.length))),
        ]),
    example === undefined
      ? undefined
      : section('receipt', 'A receipt', [
          html`<p>What ${quoted(example.account.strategy, 40)} did to ${quotedPath(example.file)}.</p>`,
          ...receiptParts(example.account),
        ]),
  ];
  return renderPage({
    title: `${printable(title, 80)} · roundfold`,
    kind: 'comparison',
    heading: quoted(title, 100),
    lead: quoted(about.join(' · '), 300),
    body: parts.filter((part) => part !== undefined),
  });
}

function measureList({ kept, measures }: Comparison): Markup | undefined {
  const items = [kept, ...measures].map(({ name, help }) => html`<dt>${name}</dt><dd>${help}</dd>`);
  return folded('What the columns say', html`<dl class="words">${items}</dl>`);
}

function sessionDetails({ name, series, limits }: ComparedSession, index: number, detail: Detail): Markup {
  const [only] = series;
  const content =
    series.length === 1 && only !== undefined
      ? roundsFigure(only, limits, detail)
      : severalSeriesFigure(series, limits, detail);
  return html`<details class="session"${index === 0 ? html` open` : undefined}><summary>${quotedPath(name, 80)}</summary>${content}</details>`;
}

/** A row with how it is drawn. */
interface DrawnRow {
  readonly row: ComparedRow;
  readonly look: SeriesLook;
}

/** Competitors get colours, controls are grey and dotted, the oracle is a dashed line above them all. */
function drawnRows(rows: readonly ComparedRow[]): readonly DrawnRow[] {
  const competitors = rows.filter(({ kind }) => kind !== 'control' && kind !== 'oracle');
  const controls = rows.filter(({ kind }) => kind === 'control');
  return rows.map((row) => {
    if (row.kind === 'oracle') return { row, look: oracleLook };
    if (row.kind !== 'control') return { row, look: lookOf(competitors.indexOf(row)) };
    return { row, look: { colour: 'quiet', mark: lookOf(controls.indexOf(row)).mark, line: 'dotted' } };
  });
}

function legend(shown: readonly DrawnRow[]): Markup {
  return key(shown.map(({ row, look }) => ({ name: quoted(row.name, 40), look })));
}

/** What keeps nearly everything is no compaction: its point would squeeze all others to the left. */
const NEARLY_ALL = 0.9;

function isDrawn({ keptShare, isAside }: ComparedPoint): boolean {
  return keptShare < NEARLY_ALL && isAside !== true;
}

/** Recall against tokens kept, a chart for each measure that has one. */
function recallCharts({ rows, kept, measures }: Comparison): Markup | undefined {
  const shown = drawnRows(rows).filter(({ row }) => row.points.some(isDrawn));
  const widest = Math.max(
    0,
    ...shown.flatMap(({ row }) => row.points.filter(isDrawn).map(({ keptShare }) => keptShare)),
  );
  const charted = measures.filter(({ isCharted }) => isCharted);
  if (charted.length === 0 || widest === 0) return undefined;
  const x = axisTo(widest, { label: kept.name, format: percentOf });
  const figures = charted.map((measure) => {
    const chart = recallChart(shown, {
      measure,
      index: measures.indexOf(measure),
      x,
      heightPixels: 230,
      placeOf: (point) => (isDrawn(point) ? point.keptShare : undefined),
    });
    return html`<figure><figcaption>${measure.name} <small>${measure.help}</small></figcaption>${chart}</figure>`;
  });
  return html`${legend(shown)}<div class="multiples">${figures}</div>`;
}

/** Cost against the first measure that has a chart, a chart for each moment at which rows compact; none without costs. */
function costCharts({ rows, measures }: Comparison): readonly Markup[] {
  const index = measures.findIndex(({ isCharted }) => isCharted === true);
  const measure = measures[index];
  const costOf = ({ costDollars }: ComparedPoint) => costDollars;
  const priced = drawnRows(rows).filter(({ row }) => row.points.some((point) => costOf(point) !== undefined));
  const costs = priced.flatMap(({ row }) => row.points.flatMap((point) => costOf(point) ?? []));
  if (measure === undefined || costs.length === 0) return [];
  // One scale for all charts, so that they can be compared.
  const x = axisTo(Math.max(...costs), { label: COST.name, format: (value) => formatFigure(value, COST) });
  const moments = [...new Set(priced.flatMap(({ row }) => row.compacts ?? []))];
  const groups = moments.length === 0 ? [undefined] : moments;
  return groups.map((compacts) => {
    const shown = priced.filter(({ row }) => row.compacts === undefined || row.compacts === compacts);
    const chart = recallChart(shown, { measure, index, x, heightPixels: 280, placeOf: costOf });
    const caption =
      compacts === undefined ? undefined : html`<figcaption>Compacting ${compacts}</figcaption>`;
    return html`${legend(shown)}<figure>${caption}${chart}</figure>`;
  });
}

interface RecallChart {
  readonly measure: Measure;
  /** Index of the measure in the figures of a point. */
  readonly index: number;
  readonly x: Axis;
  readonly heightPixels: number;
  /** Where a point stands on the x-axis; undefined for those that stand nowhere. */
  placeOf(point: ComparedPoint): number | undefined;
}

const recallAxis: Axis = axisTo(1, { label: 'recall', format: percentOf });

function recallChart(
  shown: readonly DrawnRow[],
  { measure, index, x, heightPixels, placeOf }: RecallChart,
): Markup {
  const curves = shown.map(({ row, look }) => ({
    look,
    points: row.points.flatMap((point) => {
      const [across, figure] = [placeOf(point), point.figures[index]];
      if (across === undefined || figure === undefined) return [];
      const detail = `${row.name}: ${formatFigure(figure.value, measure)} with ${percentOf(point.keptShare)} of the tokens`;
      return [{ x: across, y: figure, detail }];
    }),
  }));
  const description = `${measure.name} against ${x.label}, a line for each of ${shown.length} rows. The table of figures has the numbers.`;
  return curveChart(curves, { description, heightPixels, x, y: recallAxis });
}

function percentOf(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** One row at one budget. */
interface PanelLine {
  readonly row: ComparedRow;
  readonly point: ComparedPoint;
  readonly oracle: ComparedPoint | undefined;
  /** For each measure, whether this line has the best figure of its budget. */
  readonly isBest: readonly boolean[];
  readonly startsBudget: boolean;
}

/** Every figure with its interval and, where there is an oracle, as a share of the possible. */
function panelTable({ rows, kept, measures }: Comparison): Markup | undefined {
  const lines = panelLines(rows, measures);
  const hasOracle = lines.some(({ oracle }) => oracle !== undefined);
  const hasCost = lines.some(({ point }) => point.costDollars !== undefined);
  return table(
    lines,
    [
      { heading: 'row', isRowHeading: true, cell: ({ row }) => nameOfRow(row) },
      figureColumn(kept.name, ({ point }) => percentOf(point.keptShare)),
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

/** One name and unit for terminal and page. */
const COST = { name: 'cost', unit: 'dollars' } as const;

const costColumn: TableColumn<PanelLine> = figureColumn(COST.name, ({ point: { costDollars } }) =>
  costDollars === undefined ? '' : formatFigure(costDollars, COST),
);

function measureColumn(measure: Measure, index: number): TableColumn<PanelLine> {
  return figureColumn(measure.name, ({ point, isBest }) => {
    const figure = point.figures[index];
    if (figure === undefined) return '';
    const words = formatFigure(figure.value, measure);
    return html`${isBest[index] === true ? html`<strong>${words}</strong>` : words}${small(formatInterval(figure, measure))}`;
  });
}

/** The figures that have charts and that the oracle aims at, as shares of what it reached with the same budget. */
function possibleColumn(measures: readonly Measure[]): TableColumn<PanelLine> {
  return figureColumn('of the possible', ({ row, point, oracle }) => {
    if (row.kind === 'oracle' || oracle === undefined) return '';
    const shares = measures.flatMap(({ isCharted }, index) => {
      const possible = oracle.figures[index];
      return isCharted === true && possible !== undefined ? [shareOf(point.figures[index], possible)] : [];
    });
    return `${shares.join(' / ')} %`;
  });
}

function small(words: string): Markup | undefined {
  return words === '' ? undefined : html`<small>${words}</small>`;
}

function shareOf(figure: Estimate | undefined, possible: Estimate): string {
  if (figure === undefined || !(possible.value > 0)) return '–';
  return ((100 * figure.value) / possible.value).toFixed(0);
}

const KIND_WORDS = {
  strategy: '',
  peer: 'another library',
  recorded: 'recorded in the session',
  control: 'control',
  oracle: 'the best possible',
} as const;

function nameOfRow({ name, kind }: ComparedRow): Markup {
  return html`${quoted(name, 40)}${small(KIND_WORDS[kind])}`;
}

function nameOfBudget(share: number | undefined): string {
  return share === undefined ? 'Without a budget' : `Budget: ${percentOf(share)} of the tokens`;
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
    const competing = group.filter(competes).map(({ point }) => point);
    const best = measures.map((measure, index) => bestOf(competing, measure, index));
    return group.map(({ row, point }, index) => ({
      row,
      point,
      oracle,
      isBest: best.map(
        (value, measure) =>
          value !== undefined && competing.includes(point) && point.figures[measure]?.value === value,
      ),
      startsBudget: index === 0,
    }));
  });
}

function competes({ row: { kind }, point }: { row: ComparedRow; point: ComparedPoint }): boolean {
  return kind !== 'control' && kind !== 'oracle' && point.isOverBudget !== true;
}

/** The best figure of those that compete; undefined when all are the same. */
function bestOf(
  competing: readonly ComparedPoint[],
  { isLessBetter = false }: Measure,
  index: number,
): number | undefined {
  const values = competing.flatMap(({ figures }) => figures[index]?.value ?? []);
  if (new Set(values).size < 2) return undefined;
  return isLessBetter ? Math.min(...values) : Math.max(...values);
}

/** How many losses are listed; the most telling come first. */
const LISTED_LOSSES = 200;

/** What later calls needed and did not find any more. */
function lostTable(lost: readonly LostItem[]): Markup | undefined {
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
      { heading: 'stood in', cell: ({ stoodIn }) => quoted(stoodIn, 70) },
      {
        heading: 'needed by',
        cell: ({ neededBy, roundsLater }) =>
          html`<code>${quoted(neededBy, 90)}</code>${roundsLater === undefined ? undefined : html`<small>${countOf(roundsLater, 'round')} later</small>`}`,
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
