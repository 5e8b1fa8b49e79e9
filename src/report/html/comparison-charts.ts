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
export function recallCharts({ rows, measures }: Comparison): Markup | undefined {
  const drawn = drawnRows(rows);
  const charted = measures
    .map((measure, index) => ({ measure, index }))
    .filter(({ measure }) => measure.isCharted);
  const kept = rows.flatMap(({ points }) => points.filter(isDrawn).map(({ keptShare }) => keptShare));
  const widest = Math.max(0, ...kept);
  if (charted.length === 0 || widest === 0) return undefined;
  const x = axisTo(widest, { label: 'tokens kept', format: wholePercent });
  const shown = drawn.filter(({ row }) => row.points.some(isDrawn));
  const figures = charted.map(({ measure, index }) => {
    const curves = shown.map((one) => recallCurve(one, measure, index));
    const chart = curveChart(curves, {
      description: `${measure.name} against tokens kept, a line for each of ${shown.length} rows. The table of figures has the numbers.`,
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

/** Cost against the first measure that has a chart; nothing when no cost was replayed. */
export function costChart({ rows, measures }: Comparison): Markup | undefined {
  const index = measures.findIndex(({ isCharted }) => isCharted === true);
  const measure = measures[index];
  const priced = drawnRows(rows).filter(({ row }) =>
    row.points.some(({ costDollars }) => costDollars !== undefined),
  );
  const costs = priced.flatMap(({ row }) => row.points.flatMap(({ costDollars }) => costDollars ?? []));
  if (measure === undefined || costs.length === 0) return undefined;
  const money: Measure = { name: 'cost', help: '', unit: 'dollars' };
  const x = axisTo(Math.max(...costs), {
    label: 'cost of a session',
    format: (value) => formatFigure(value, money),
  });
  const curves = priced.map(({ row, look }) => ({
    look,
    points: row.points.flatMap((point) =>
      point.costDollars === undefined ? [] : pointAt(point, index, { x: point.costDollars, row, measure }),
    ),
  }));
  const chart = curveChart(curves, {
    description: `${measure.name} against the cost of a session, a line for each of ${priced.length} rows. The table of figures has the numbers.`,
    heightPixels: 280,
    x,
    y: recallAxis,
  });
  return html`${key(priced.map(({ row, look }) => ({ name: quoted(row.name, 40), look })))}<figure>${chart}</figure>`;
}

function wholePercent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
