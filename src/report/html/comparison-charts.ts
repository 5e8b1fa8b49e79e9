import { type Curve, type CurvePoint, curveChart } from '../charts/curve-chart.ts';
import { key, lookOf, oracleLook, type SeriesLook } from '../charts/marks.ts';
import { type Axis, axisTo } from '../charts/plot.ts';
import type { ComparedPoint, ComparedRow, Comparison, Measure } from '../comparison.ts';
import { formatFigure } from './figures.ts';
import { html, type Markup, quoted } from './markup.ts';

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

/** What keeps nearly everything is no compaction: its point would squeeze all others to the left. */
const NEARLY_ALL = 0.9;

function isDrawn({ keptShare, isAside }: ComparedPoint): boolean {
  return keptShare < NEARLY_ALL && isAside !== true;
}

/** Recall against tokens kept, a chart for each measure that has one. */
export function recallCharts({ rows, kept: keptMeasure, measures }: Comparison): Markup | undefined {
  const drawn = drawnRows(rows);
  const charted = measures
    .map((measure, index) => ({ measure, index }))
    .filter(({ measure }) => measure.isCharted);
  const kept = rows.flatMap(({ points }) => points.filter(isDrawn).map(({ keptShare }) => keptShare));
  const widest = Math.max(0, ...kept);
  if (charted.length === 0 || widest === 0) return undefined;
  const x = axisTo(widest, { label: keptMeasure.name, format: wholePercent });
  const shown = drawn.filter(({ row }) => row.points.some(isDrawn));
  const figures = charted.map(({ measure, index }) => {
    const curves = shown.map((one) => recallCurve(one, measure, index));
    const chart = curveChart(curves, {
      description: `${measure.name} against ${keptMeasure.name}, a line for each of ${shown.length} rows. The table of figures has the numbers.`,
      heightPixels: 230,
      x,
      y: recallAxis,
    });
    return html`<figure><figcaption>${measure.name} <small>${measure.help}</small></figcaption>${chart}</figure>`;
  });
  return html`${key(shown.map(({ row, look }) => ({ name: quoted(row.name, 40), look })))}<div class="multiples">${figures}</div>`;
}

function recallCurve({ row, look }: DrawnRow, measure: Measure, index: number): Curve {
  const points = row.points
    .filter(isDrawn)
    .flatMap((point) => pointAt(point, index, { x: point.keptShare, row, measure }));
  return { look, points };
}

function pointAt(
  point: ComparedPoint,
  index: number,
  { x, row, measure }: { readonly x: number; readonly row: ComparedRow; readonly measure: Measure },
): readonly CurvePoint[] {
  const figure = point.figures[index];
  if (figure === undefined) return [];
  const detail = `${row.name}: ${formatFigure(figure.value, measure)} with ${wholePercent(point.keptShare)} of the tokens`;
  return [{ x, y: figure, detail }];
}

const recallAxis: Axis = axisTo(1, { label: 'recall', format: wholePercent });

/** Cost against the first measure that has a chart, a chart for each moment at which rows compact; none without costs. */
export function costCharts({ rows, measures }: Comparison): readonly Markup[] {
  const index = measures.findIndex(({ isCharted }) => isCharted === true);
  const measure = measures[index];
  const priced = drawnRows(rows).filter(({ row }) =>
    row.points.some(({ costDollars }) => costDollars !== undefined),
  );
  const costs = priced.flatMap(({ row }) => row.points.flatMap(({ costDollars }) => costDollars ?? []));
  if (measure === undefined || costs.length === 0) return [];
  // One scale for all charts, so that they can be compared.
  const x = axisTo(Math.max(...costs), {
    label: 'cost',
    format: (value) => formatFigure(value, { unit: 'dollars' }),
  });
  const moments = [...new Set(priced.flatMap(({ row }) => row.compacts ?? []))];
  const groups = moments.length === 0 ? [undefined] : moments;
  return groups.map((compacts) => {
    const shown = priced.filter(({ row }) => row.compacts === undefined || row.compacts === compacts);
    return costChart(shown, { compacts, measure, index, x });
  });
}

function costChart(
  shown: readonly DrawnRow[],
  {
    compacts,
    measure,
    index,
    x,
  }: {
    readonly compacts: string | undefined;
    readonly measure: Measure;
    readonly index: number;
    readonly x: Axis;
  },
): Markup {
  const curves = shown.map(({ row, look }) => ({
    look,
    points: row.points.flatMap((point) =>
      point.costDollars === undefined ? [] : pointAt(point, index, { x: point.costDollars, row, measure }),
    ),
  }));
  const chart = curveChart(curves, {
    description: `${measure.name} against cost, a line for each of ${shown.length} rows. The table of figures has the numbers.`,
    heightPixels: 280,
    x,
    y: recallAxis,
  });
  const caption = compacts === undefined ? undefined : html`<figcaption>Compacting ${compacts}</figcaption>`;
  return html`${key(shown.map(({ row, look }) => ({ name: quoted(row.name, 40), look })))}<figure>${caption}${chart}</figure>`;
}

function wholePercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
