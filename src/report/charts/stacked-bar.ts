import { html, type Markup } from '../html/markup.ts';
import { percent } from './plot.ts';

/** A part of a stacked bar. */
export interface BarSegment {
  /** Written into it where there is room. */
  readonly label?: string | undefined;
  readonly value: number;
  /** Class of its colour: `s0` to `s7`, `quiet`. */
  readonly colour: string;
  /** What is said about it when it is pointed at. */
  readonly detail: string;
}

export interface BarOptions {
  readonly description: string;
  /** What the full width stands for. Default: all segments together. */
  readonly whole?: number;
}

/** Parts of a whole beside each other. Parts too small to be seen are left out here: the table beside it has them. */
export function stackedBar(segments: readonly BarSegment[], options: BarOptions): Markup {
  const total = segments.reduce((sum, { value }) => sum + value, 0);
  const whole = Math.max(options.whole ?? total, total, Number.MIN_VALUE);
  let left = 0;
  const parts = segments.map((segment) => {
    const from = left;
    left += segment.value / whole;
    return drawSegment(segment, from, segment.value / whole);
  });
  return html`<div class="bar"><svg width="100%" height="100%" role="img" aria-label="${options.description}"><rect width="100%" height="100%" class="track"/>${parts}</svg></div>`;
}

/** Less than this share of the bar cannot be seen. */
const VISIBLE = 0.001;

/** Share of the narrowest bar that a character of a label takes. */
const CHARACTER = 0.026;

/** The same on wide screens. */
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
