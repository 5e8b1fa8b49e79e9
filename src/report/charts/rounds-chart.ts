import { html, type Markup } from '../html/markup.ts';
import type { MarkedCompaction, RoundSeries } from '../round-series.ts';
import { countOf, formatCount } from '../terminal.ts';
import { lookOf } from './marks.ts';
import {
  type Axis,
  axisTo,
  outline,
  outlineBelow,
  type PlotPoint,
  percent,
  place,
  plot,
  stretched,
  tickCount,
} from './plot.ts';

/** Lines across the chart. */
export interface RoundLimits {
  readonly windowTokens: number;
  readonly triggerTokens: number;
  readonly targetTokens: number;
}

export interface RoundsChartOptions {
  readonly limits: RoundLimits | undefined;
  /** How many points a line may have; of more, the largest of neighbours is drawn. */
  readonly points: number;
  readonly heightPixels: number;
}

/** Tokens of the context after each round, with compactions marked; several series lie over each other. */
export function roundsChart(series: readonly RoundSeries[], options: RoundsChartOptions): Markup {
  const rounds = Math.max(1, ...series.map(countRounds));
  const peak = Math.max(0, ...series.flatMap(({ stretches }) => stretches.map(largestOf)));
  const shown = shownLimits(peak, options.limits);
  const top = Math.max(peak * 1.08, ...shown.map(({ tokens }) => tokens * 1.04));
  const x = axisTo(Math.max(1, rounds - 1), { label: 'round', isExact: true, ticks: 5, format: tickCount });
  const y = axisTo(top, { label: 'tokens in context', isExact: true, ticks: 5, format: tickCount });
  const drawn = series.map((one, index) =>
    drawSeries(one, lookOf(index).colour, { x, y, points: options.points }),
  );
  return plot({
    description: describe(series, rounds, peak),
    heightPixels: options.heightPixels,
    x,
    y,
    marks: [
      ...shown.map((limit) => drawLimit(limit, y)),
      stretched(drawn.flatMap(({ paths }) => paths)),
      ...(series.length === 1 ? drawn.flatMap(({ cuts }) => cuts) : []),
      ...shown.map((limit) => nameLimit(limit, y)),
    ],
  });
}

/** How many rounds a series has, over all its stretches. */
export function countRounds({ stretches }: RoundSeries): number {
  return stretches.reduce((sum, sizes) => sum + sizes.length, 0);
}

/** The largest of the sizes; 0 when there are none. */
export function largestOf(sizes: readonly number[]): number {
  return sizes.reduce((largest, size) => Math.max(largest, size), 0);
}

interface Limit {
  readonly name: 'window' | 'trigger' | 'target';
  readonly tokens: number;
}

/** Below this share of the window its line would squeeze everything else to the floor. */
const LEAST_SHARE = 0.2;

function shownLimits(peak: number, limits: RoundLimits | undefined): readonly Limit[] {
  if (limits === undefined || !(limits.windowTokens > 0)) return [];
  const all: readonly Limit[] = [
    { name: 'window', tokens: limits.windowTokens },
    { name: 'trigger', tokens: limits.triggerTokens },
    { name: 'target', tokens: limits.targetTokens },
  ];
  return peak >= limits.windowTokens * LEAST_SHARE ? all : all.filter(({ tokens }) => tokens <= peak);
}

function drawLimit({ name, tokens }: Limit, y: Axis): Markup {
  const top = percent(1 - place(tokens, y));
  return html`<line x1="0" x2="100%" y1="${top}" y2="${top}" class="limit ${name}"/>`;
}

/** At the left, where contexts are small: most curves end at the right, near the top. */
function nameLimit({ name, tokens }: Limit, y: Axis): Markup {
  return html`<text x="6" y="${percent(1 - place(tokens, y))}" dy="-5" class="halo">${name} ${tickCount(tokens)}</text>`;
}

interface Drawn {
  readonly paths: readonly Markup[];
  readonly cuts: readonly Markup[];
}

function drawSeries(
  series: RoundSeries,
  colour: string,
  { x, y, points }: { readonly x: Axis; readonly y: Axis; readonly points: number },
): Drawn {
  const { stretches, compactions } = joinedWhereTooMany(series, points);
  const rounds = countRounds(series);
  const paths: Markup[] = [];
  const cuts: Markup[] = [];
  let first = 0;
  for (const [index, sizes] of stretches.entries()) {
    const share = Math.max(2, Math.round((points * sizes.length) / Math.max(1, rounds)));
    const begin = first;
    const line = thinOut(sizes, share).map(({ round, tokens }) => ({
      x: place(begin + round, x),
      y: place(tokens, y),
    }));
    const compaction = compactions[index - 1];
    if (compaction !== undefined) cuts.push(drawCut(compaction, index, place(first, x)));
    if (line.length > 0) paths.push(...drawLine(line, colour));
    first += sizes.length;
  }
  return { paths, cuts };
}

/** Points that a stretch needs to be seen as one. */
const LEAST_POINTS = 5;

/** Compactions closer together than that cannot be told apart: then the whole is one line without marks. */
function joinedWhereTooMany(series: RoundSeries, points: number): Omit<RoundSeries, 'name'> {
  if (series.stretches.length * LEAST_POINTS <= points) return series;
  return { stretches: [series.stretches.flat()], compactions: [] };
}

function drawLine(points: readonly PlotPoint[], colour: string): readonly Markup[] {
  // A single round is a line too, if a short one.
  const line = points.length === 1 ? [...points, ...points] : points;
  return [
    html`<path d="${outlineBelow(line)}" class="area ${colour}"/>`,
    html`<path d="${outline(line)}" class="curve ${colour}"/>`,
  ];
}

function drawCut({ tokensBefore, tokensAfter }: MarkedCompaction, number: number, left: number): Markup {
  const at = percent(left);
  const words = `compaction ${number}: ${formatCount(tokensBefore)} to ${formatCount(tokensAfter)} tokens`;
  return html`<g><title>${words}</title><line x1="${at}" x2="${at}" y1="0" y2="100%" class="cut"/><svg x="${at}" y="0"><path d="M-5-7h10l-5 7z" class="cutmark"/></svg></g>`;
}

/** Neighbouring rounds of which the largest stands for all. */
export interface ThinnedRound {
  readonly round: number;
  readonly tokens: number;
}

/** At most `limit` of the rounds: the first, the last, and between them the largest of each group of neighbours. */
export function thinOut(sizes: readonly number[], limit: number): readonly ThinnedRound[] {
  const all = sizes.map((tokens, round) => ({ round, tokens }));
  if (all.length <= Math.max(2, limit)) return all;
  const inner = all.slice(1, -1);
  const groups = Math.max(0, limit - 2);
  const thinned = Array.from({ length: groups }, (_, group) => {
    const from = Math.floor((group * inner.length) / groups);
    const to = Math.floor(((group + 1) * inner.length) / groups);
    return inner.slice(from, to).reduce((most, one) => (one.tokens > most.tokens ? one : most));
  });
  return [...all.slice(0, 1), ...thinned, ...all.slice(-1)];
}

function describe(series: readonly RoundSeries[], rounds: number, peak: number): string {
  const compactions = series.reduce((sum, one) => sum + one.compactions.length, 0);
  return `Line chart of tokens in the context over ${countOf(rounds, 'round')}: at most ${formatCount(peak)}, ${countOf(compactions, 'compaction')}. The table below has the numbers.`;
}
