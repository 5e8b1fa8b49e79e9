import { formatShort } from '../terminal.ts';
import { constantMarkup, html, type Markup } from './markup.ts';
import { seriesColours } from './style.ts';

/** One direction of a plot. */
export interface Axis {
  readonly label: string;
  readonly max: number;
  readonly ticks: readonly number[];
  format(value: number): string;
}

interface AxisOptions {
  readonly label: string;
  /** How many ticks there should be, about. Default 4. */
  readonly ticks?: number;
  /** Whether the axis ends at `max` itself instead of the next round number. */
  readonly isExact?: boolean;
  format(value: number): string;
}

const STEPS = [1, 2, 2.5, 5, 10];

/** An axis from 0 to `max`, with ticks at round numbers. Anything that is no number above 0 counts as 1. */
export function axisTo(max: number, options: AxisOptions): Axis {
  const { ticks: wanted = 4, isExact = false, label, format } = options;
  const end = Number.isFinite(max) && max > 0 ? max : 1;
  const raw = end / wanted;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = (STEPS.find((factor) => factor * magnitude >= raw * 0.999) ?? 10) * magnitude;
  const last = isExact ? Math.floor(end / step + 1e-9) : Math.ceil(end / step - 1e-9);
  const ticks = Array.from({ length: Math.max(1, last + 1) }, (_, index) => index * step);
  return { label, max: isExact ? end : last * step, ticks, format };
}

/** A number of tokens or rounds on an axis: `50k`, `1.5M`. */
export function tickCount(count: number): string {
  return formatShort(count)
    .replace(/\.0+(?=[kM])/, '')
    .replace(/(\.\d)0(?=M)/, '$1');
}

/** Where a value stands between the ends of its axis: 0 to 1. */
export function place(value: number, { max }: Pick<Axis, 'max'>): number {
  return bounded(value / max);
}

/** A share as a length that grows with the picture: `37.5%`. */
export function percent(share: number): string {
  return `${Number((bounded(share) * 100).toFixed(2))}%`;
}

function bounded(share: number): number {
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

interface PlotOptions {
  /** What is to be seen, in words, for those who do not see it. */
  readonly description: string;
  readonly heightPixels: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly marks: readonly Markup[];
}

/**
 * A plot with its axes. It has no size of its own: places are in percent, so that it fills whatever width there is while
 * its text stays as large as the text around it.
 */
export function plot({ description, heightPixels, x, y, marks }: PlotOptions): Markup {
  return html`
    <div class="plot"><svg width="100%" height="${heightPixels}" role="img" aria-label="${description}">
    <g class="grid" aria-hidden="true">
    ${y.ticks.map((value) => horizontal(value, y))}
    ${x.ticks.map((value) => tick(value, x, heightPixels))}
    <text x="-38" y="-16">${y.label}</text>
    <text x="100%" y="${heightPixels + 38}" class="end">${x.label}</text>
    </g>
    ${marks}
    </svg></div>`;
}

function horizontal(value: number, axis: Axis): Markup {
  const top = percent(1 - place(value, axis));
  const base = value === 0 ? html` class="base"` : undefined;
  return html`<line x1="0" x2="100%" y1="${top}" y2="${top}"${base}/><text x="-8" y="${top}" dy="4" class="end">${axis.format(value)}</text>`;
}

function tick(value: number, axis: Axis, heightPixels: number): Markup {
  return html`<text x="${percent(place(value, axis))}" y="${heightPixels + 18}" class="middle">${axis.format(value)}</text>`;
}

/** A place of a plot: 0,0 is where its axes meet. */
export interface PlotPoint {
  readonly x: number;
  readonly y: number;
}

/** Lines are drawn on a raster of this many steps, which is then stretched over the plot. */
const RASTER = 1000;

/** Paths over the whole plot: percent cannot be used inside a path. */
export function stretched(paths: readonly Markup[]): Markup {
  return html`<svg width="100%" height="100%" viewBox="0 0 ${RASTER} ${RASTER}" preserveAspectRatio="none">${paths}</svg>`;
}

/** The outline of a line through the points, as an attribute of a path. */
export function outline(points: readonly PlotPoint[]): Markup {
  const coordinates = points.map(({ x, y }) => `${Math.round(x * RASTER)} ${Math.round((1 - y) * RASTER)}`);
  return constantMarkup(`M${coordinates.join('L')}`);
}

/** The outline of what is below the line. */
export function outlineBelow(points: readonly PlotPoint[]): Markup {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) return constantMarkup('');
  const floor = [
    { x: last.x, y: 0 },
    { x: first.x, y: 0 },
  ];
  return html`${outline([...points, ...floor])}${constantMarkup('z')}`;
}

/** Outlines around 0,0: a series is known by its mark as well as by its colour. */
const SHAPES = [
  'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z',
  'M-4-4h8v8h-8z',
  'M0-5.5L5 4H-5z',
  'M0-5.5L5.5 0L0 5.5L-5.5 0z',
  'M0 5.5L5-4H-5z',
  'M-5-1.8h3.2v-3.2h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2z',
  'M0-5.5L5.2-1.7L3.2 4.5H-3.2L-5.2-1.7z',
  'M-5-2h10v4h-10z',
];

/** The shapes that `mark` draws; once per page. */
export const markShapes: Markup = html`<svg class="defs" width="0" height="0" aria-hidden="true"><defs>${SHAPES.map(
  (path, index) => html`<path id="m${index}" d="${constantMarkup(path)}"/>`,
)}</defs></svg>`;

/** How a series looks: a class for its colour, the number of its mark, and the kind of its line. */
export interface SeriesLook {
  readonly colour: string;
  readonly mark: number;
  readonly line: '' | 'dashed' | 'dotted';
}

/** The look of the series with this number. After eight the colours come again, with another line. */
export function lookOf(index: number): SeriesLook {
  const turn = Math.floor(index / seriesColours);
  return {
    colour: `s${index % seriesColours}`,
    mark: (index + turn) % SHAPES.length,
    line: turn === 0 ? '' : 'dashed',
  };
}

/** The look of what the best possible text would reach. */
export const oracleLook: SeriesLook = { colour: 'dark', mark: 3, line: 'dashed' };

/** The mark of a series at a place of the plot, in percent of its width and height. */
function mark({ colour, mark: shape }: SeriesLook, left: string, top: string): Markup {
  return html`<use href="#m${shape}" x="${left}" y="${top}" class="mark ${colour}"/>`;
}

/** A list of what the lines and marks of a chart stand for. */
export function key(
  entries: readonly { readonly name: Markup | string; readonly look: SeriesLook }[],
): Markup {
  return html`<ul class="key">${entries.map(
    ({ name, look }) => html`<li>${sample(look)}<span>${name}</span></li>`,
  )}</ul>`;
}

function sample(look: SeriesLook): Markup {
  return html`<svg width="30" height="12" aria-hidden="true"><line x1="0" x2="30" y1="6" y2="6" class="curve ${look.colour} ${look.line}"/>${mark(look, '15', '6')}</svg>`;
}

/** A value with the interval it lies in, where that is known. */
export interface Estimate {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

interface CurvePoint {
  readonly x: number;
  readonly y: Estimate;
  /** What is said about it when it is pointed at. */
  readonly detail: string;
}

/** Points of one kind, joined in the order of their x. */
interface Curve {
  readonly look: SeriesLook;
  readonly points: readonly CurvePoint[];
}

/** Curves with a mark at each point and its interval as a whisker. Points without a number are left out. */
export function curveChart(curves: readonly Curve[], options: Omit<PlotOptions, 'marks'>): Markup {
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

/** A part of a stacked bar. */
interface BarSegment {
  /** Written into it where there is room. */
  readonly label?: string | undefined;
  readonly value: number;
  /** Class of its colour: `s0` to `s7`, `quiet`. */
  readonly colour: string;
  /** What is said about it when it is pointed at. */
  readonly detail: string;
}

/**
 * Parts of a whole beside each other. Parts too small to be seen are left out here: the table beside it has them.
 * @param wanted what the full width stands for, where that is more than all segments together
 */
export function stackedBar(segments: readonly BarSegment[], description: string, wanted = 0): Markup {
  const total = segments.reduce((sum, { value }) => sum + value, 0);
  const whole = Math.max(wanted, total, Number.MIN_VALUE);
  let left = 0;
  const parts = segments.map((segment) => {
    const from = left;
    left += segment.value / whole;
    return drawSegment(segment, from, segment.value / whole);
  });
  return html`<div class="bar"><svg width="100%" height="100%" role="img" aria-label="${description}"><rect width="100%" height="100%" class="track"/>${parts}</svg></div>`;
}

/** Less than this share of the bar cannot be seen. */
const VISIBLE = 0.001;

/** Share of the narrowest bar that a character of a label takes. */
const CHARACTER = 0.026;

/** The same, on wide screens. */
const CHARACTER_WHERE_ROOMY = 0.009;

function drawSegment({ colour, detail, label = '' }: BarSegment, from: number, share: number): Markup {
  if (share < VISIBLE) return html``;
  const needed = label.length + 2;
  const isWritten = label !== '' && share >= needed * CHARACTER_WHERE_ROOMY;
  const roomy = share < needed * CHARACTER ? html` class="roomy"` : undefined;
  const words = isWritten
    ? html`<text x="${percent(from)}" y="50%" dx="11" dy="4"${roomy}>${label}</text>`
    : undefined;
  return html`<g><title>${detail}</title><rect x="${percent(from)}" width="${percent(share)}" height="100%" class="seg ${colour}"/>${words}</g>`;
}

/** A single share as a small bar in a table. The number stands beside it, so it says nothing by itself. */
export function meter(share: number, colour = 's0'): Markup {
  return html`<svg class="meter" aria-hidden="true"><rect width="${percent(share)}" height="8" class="seg ${colour}"/></svg>`;
}

/** The colour of a part, in front of its name. */
export function swatch(colour: string): Markup {
  return html`<i class="swatch ${colour}"></i>`;
}
