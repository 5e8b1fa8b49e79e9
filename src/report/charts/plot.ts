import { constantMarkup, html, type Markup } from '../html/markup.ts';
import { formatShort } from '../terminal.ts';

/** One direction of a plot. */
export interface Axis {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly number[];
  format(value: number): string;
}

export interface AxisOptions {
  readonly label: string;
  /** Where the axis begins. Default 0. */
  readonly min?: number;
  /** How many ticks there should be, about. Default 4. */
  readonly ticks?: number;
  /** Whether the axis ends at `max` itself instead of the next round number. */
  readonly isExact?: boolean;
  format(value: number): string;
}

const STEPS = [1, 2, 2.5, 5, 10];

/** An axis up to `max`, with ticks at round numbers. Anything that is no number above the start counts as one step. */
export function axisTo(max: number, options: AxisOptions): Axis {
  const { min = 0, ticks: wanted = 4, isExact = false, label, format } = options;
  const span = Number.isFinite(max) && max > min ? max - min : 1;
  const raw = span / wanted;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = (STEPS.find((factor) => factor * magnitude >= raw * 0.999) ?? 10) * magnitude;
  const first = Math.ceil(min / step - 1e-9);
  const last = isExact ? Math.floor((min + span) / step + 1e-9) : Math.ceil((min + span) / step - 1e-9);
  const ticks = Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => (first + index) * step);
  return { label, min, max: isExact ? min + span : last * step, ticks, format };
}

/** A number of tokens or rounds on an axis: `50k`, `1.5M`. */
export function tickCount(count: number): string {
  return formatShort(count)
    .replace(/\.0+(?=[kM])/, '')
    .replace(/(\.\d)0(?=M)/, '$1');
}

/** Where a value stands between the ends of its axis: 0 to 1. */
export function place(value: number, { min, max }: Axis): number {
  const share = (value - min) / (max - min);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

/** A share as a length that grows with the picture: `37.5%`. */
export function percent(share: number): string {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return `${Number((bounded * 100).toFixed(2))}%`;
}

export interface PlotOptions {
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
  const base = value === axis.min ? html` class="base"` : undefined;
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
