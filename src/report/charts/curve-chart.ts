import { html, type Markup } from '../html/markup.ts';
import { mark, type SeriesLook } from './marks.ts';
import { type Axis, outline, percent, place, plot, stretched } from './plot.ts';

/** A value with the interval it lies in, where that is known. */
export interface Estimate {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

export interface CurvePoint {
  readonly x: number;
  readonly y: Estimate;
  /** What is said about it when it is pointed at. */
  readonly detail: string;
}

/** Points of one kind, joined in the order of their x. */
export interface Curve {
  readonly look: SeriesLook;
  readonly points: readonly CurvePoint[];
}

export interface CurveChartOptions {
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly heightPixels: number;
}

/** Curves with a mark at each point and its interval as a whisker. Points without a number are left out. */
export function curveChart(curves: readonly Curve[], options: CurveChartOptions): Markup {
  const { x, y } = options;
  const drawable = curves.map(({ look, points }) => ({
    look,
    points: points
      .filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y.value))
      .toSorted((left, right) => left.x - right.x),
  }));
  const lines = drawable
    .filter(({ points }) => points.length > 1)
    .map(({ look, points }) => {
      const places = points.map((point) => ({ x: place(point.x, x), y: place(point.y.value, y) }));
      return html`<path d="${outline(places)}" class="curve ${look.colour} ${look.line}"/>`;
    });
  const marks = drawable.flatMap(({ look, points }) =>
    points.map((point) => drawPoint(point, look, { x, y })),
  );
  return plot({ ...options, marks: [stretched(lines), ...marks] });
}

function drawPoint(
  { x: across, y: up, detail }: CurvePoint,
  look: SeriesLook,
  { x, y }: { readonly x: Axis; readonly y: Axis },
): Markup {
  const left = percent(place(across, x));
  const height = (value: number) => percent(1 - place(value, y));
  const { value, low, high } = up;
  const whisker =
    low === undefined || high === undefined
      ? undefined
      : html`<line x1="${left}" x2="${left}" y1="${height(high)}" y2="${height(low)}" class="whisker ${look.colour}"/>`;
  return html`<g><title>${detail}</title>${whisker}${mark(look, left, height(value))}</g>`;
}
