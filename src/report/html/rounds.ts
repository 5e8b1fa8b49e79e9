import type { MarkedCompaction, RoundSeries } from '../round-series.ts';
import { countOf, formatCount } from '../terminal.ts';
import {
  type Axis,
  axisTo,
  key,
  lookOf,
  outline,
  outlineBelow,
  type PlotPoint,
  percent,
  place,
  plot,
  stretched,
  tickCount,
} from './charts.ts';
import { html, type Markup, quoted } from './markup.ts';
import { countColumn, figureColumn, folded, table } from './page.ts';

/** Lines across the chart. */
export interface RoundLimits {
  readonly windowTokens: number;
  readonly triggerTokens: number;
  readonly targetTokens: number;
}

/** Tokens of the context after each round, with compactions marked; several series lie over each other. */
export function roundsChart(
  series: readonly RoundSeries[],
  limits: RoundLimits | undefined,
  { chartPoints: points, chartHeightPixels: heightPixels }: Pick<Detail, 'chartPoints' | 'chartHeightPixels'>,
): Markup {
  const rounds = Math.max(1, ...series.map(countRounds));
  const peak = Math.max(0, ...series.flatMap(({ stretches }) => stretches.map(largestOf)));
  const shown = shownLimits(peak, limits);
  const top = Math.max(peak * 1.08, ...shown.map(({ tokens }) => tokens * 1.04));
  const x = axisTo(Math.max(1, rounds - 1), { label: 'round', isExact: true, ticks: 5, format: tickCount });
  const y = axisTo(top, { label: 'tokens in context', isExact: true, ticks: 5, format: tickCount });
  const drawn = series.map((one, index) => drawSeries(one, lookOf(index).colour, { x, y, points }));
  return plot({
    description: describe(series, rounds, peak),
    heightPixels,
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
function countRounds({ stretches }: Pick<RoundSeries, 'stretches'>): number {
  return stretches.reduce((sum, sizes) => sum + sizes.length, 0);
}

/** The largest of the sizes; 0 when there are none. */
function largestOf(sizes: readonly number[]): number {
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
  const lines = thinStretches(stretches, points);
  const paths = lines.flatMap((rounds) => {
    const line = rounds.map(({ round, tokens }) => ({ x: place(round, x), y: place(tokens, y) }));
    return line.length === 0 ? [] : drawLine(line, colour);
  });
  const cuts = compactions.map((compaction, index) => {
    const first = countRounds({ stretches: stretches.slice(0, index + 1) });
    return drawCut(compaction, index + 1, place(first, x));
  });
  return { paths, cuts };
}

/** Points that a stretch needs to be seen as one. */
const LEAST_POINTS = 5;

/** Compactions closer together than that cannot be told apart: then the whole is one line without marks. */
function joinedWhereTooMany(series: RoundSeries, points: number): Omit<RoundSeries, 'name'> {
  if (series.stretches.length * LEAST_POINTS <= points) return series;
  return { stretches: [series.stretches.flat()], compactions: [] };
}

/** About `limit` rounds of all stretches together; their numbers count from the first stretch on. */
function thinStretches(
  stretches: RoundSeries['stretches'],
  limit: number,
): readonly (readonly ThinnedRound[])[] {
  const rounds = countRounds({ stretches });
  let next = 0;
  return stretches.map((sizes) => {
    const first = next;
    next += sizes.length;
    const share = Math.max(2, Math.round((limit * sizes.length) / Math.max(1, rounds)));
    return thinOut(sizes, share).map(({ round, tokens }) => ({ round: first + round, tokens }));
  });
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
interface ThinnedRound {
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

/** How much of a session is drawn and listed: less where there are many. */
export interface Detail {
  readonly chartPoints: number;
  readonly chartHeightPixels: number;
  readonly roundRows: number;
  readonly listRows: number;
  readonly namedTools: number;
  /** Whether the largest rounds are named. */
  readonly hasRounds: boolean;
}

const FULL: Detail = {
  chartPoints: 300,
  chartHeightPixels: 260,
  roundRows: 40,
  listRows: 10,
  namedTools: 6,
  hasRounds: true,
};
const SHORT: Detail = {
  chartPoints: 50,
  chartHeightPixels: 160,
  roundRows: 8,
  listRows: 3,
  namedTools: 3,
  hasRounds: false,
};

/** Up to this many sessions, each is shown in full. */
const TOLD_IN_FULL = 12;

/** The detail that keeps a page of so many sessions small. */
export function detailFor(sessions: number): Detail {
  return sessions > TOLD_IN_FULL ? SHORT : FULL;
}

/** Tokens per round: the chart, what was compacted, and the numbers. */
export function roundsFigure(series: RoundSeries, limits: RoundLimits | undefined, detail: Detail): Markup {
  const chart = roundsChart([series], limits, detail);
  const numbers = html`${compactionTable(series, detail)}${roundTable(series, detail)}`;
  return html`<figure>${chart}</figure>${folded('Numbers of this chart', numbers)}`;
}

function compactionTable({ compactions }: RoundSeries, { listRows }: Detail): Markup | undefined {
  return table(
    compactions,
    [
      { heading: 'compaction', isRowHeading: true, cell: (_, index) => String(index + 1) },
      { heading: 'set off', cell: ({ trigger }) => trigger ?? 'not recorded' },
      countColumn('tokens before', ({ tokensBefore }) => tokensBefore),
      countColumn('tokens after', ({ tokensAfter }) => tokensAfter),
    ],
    { caption: 'Compactions by the agent itself', limit: listRows, noun: 'compaction' },
  );
}

interface RoundRow extends ThinnedRound {
  readonly stretch: number;
}

function roundTable({ stretches }: RoundSeries, { roundRows }: Detail): Markup | undefined {
  const rounds = countRounds({ stretches });
  const rows = thinStretches(stretches, roundRows).flatMap((thinned, stretch) =>
    thinned.map((round): RoundRow => ({ ...round, stretch })),
  );
  const shown = rows.slice(0, 2 * roundRows);
  const caption =
    shown.length < rounds ? `Tokens in context, ${shown.length} of ${rounds} rounds` : 'Tokens in context';
  return table(
    shown,
    [
      { heading: 'round', isRowHeading: true, cell: ({ round }) => String(round) },
      ...(stretches.length > 1
        ? [figureColumn<RoundRow>('compactions before', ({ stretch }) => String(stretch))]
        : []),
      countColumn('tokens', ({ tokens }) => tokens),
    ],
    { caption },
  );
}

/** Tokens per round of several series of one session: one chart, and a few numbers of each. */
export function severalSeriesFigure(
  series: readonly RoundSeries[],
  limits: RoundLimits | undefined,
  detail: Detail,
): Markup {
  const names = series.map(({ name }, index) => ({ name: quoted(name, 40), look: lookOf(index) }));
  const chart = roundsChart(series, limits, detail);
  return html`${key(names)}<figure>${chart}</figure>${folded('Numbers of this chart', seriesTable(series))}`;
}

/** Several series of one session in a few numbers each. */
export function seriesTable(series: readonly RoundSeries[]): Markup | undefined {
  return table(
    series,
    [
      { heading: 'row', isRowHeading: true, cell: ({ name }) => quoted(name, 40) },
      countColumn('rounds', (one) => countRounds(one)),
      countColumn('compactions', ({ compactions }) => compactions.length),
      countColumn('most tokens', ({ stretches }) => Math.max(0, ...stretches.map(largestOf))),
      countColumn('at the end', ({ stretches }) => stretches.at(-1)?.at(-1) ?? 0),
    ],
    { caption: 'Tokens in context' },
  );
}
