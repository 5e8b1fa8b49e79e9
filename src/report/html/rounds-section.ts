import { countRounds, largestOf, type RoundLimits, roundsChart, thinOut } from '../charts/rounds-chart.ts';
import type { RoundSeries } from '../round-series.ts';
import { formatCount } from '../terminal.ts';
import { html, type Markup, quoted } from './markup.ts';
import { folded, type TableColumn, table } from './table.ts';

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

/** So many sessions of one page are told in full. */
const TOLD_IN_FULL = 12;

/** The detail that keeps a page of so many sessions small. */
export function detailFor(sessions: number): Detail {
  return sessions > TOLD_IN_FULL ? SHORT : FULL;
}

/** Tokens per round: the chart, what was compacted, and the numbers. */
export function roundsFigure(series: RoundSeries, limits: RoundLimits | undefined, detail: Detail): Markup {
  const chart = roundsChart([series], {
    limits,
    points: detail.chartPoints,
    heightPixels: detail.chartHeightPixels,
  });
  const numbers = html`${compactionTable(series, detail)}${roundTable(series, detail)}`;
  return html`<figure>${chart}</figure>${folded('Numbers of this chart', numbers)}`;
}

function compactionTable({ compactions }: RoundSeries, { listRows }: Detail): Markup | undefined {
  return table(
    compactions,
    [
      { heading: 'compaction', isRowHeading: true, cell: (_, index) => String(index + 1) },
      { heading: 'set off', cell: ({ trigger }) => trigger ?? 'not recorded' },
      { heading: 'tokens before', isNumber: true, cell: ({ tokensBefore }) => formatCount(tokensBefore) },
      { heading: 'tokens after', isNumber: true, cell: ({ tokensAfter }) => formatCount(tokensAfter) },
    ],
    { caption: 'Compactions by the agent itself', limit: listRows, noun: 'compaction' },
  );
}

interface RoundRow {
  readonly round: number;
  readonly stretch: number;
  readonly tokens: number;
}

const stretchColumn: TableColumn<RoundRow> = {
  heading: 'compactions before',
  isNumber: true,
  cell: ({ stretch }) => String(stretch),
};

function roundTable({ stretches }: RoundSeries, { roundRows }: Detail): Markup | undefined {
  const rounds = stretches.reduce((sum, sizes) => sum + sizes.length, 0);
  let first = 0;
  const rows = stretches.flatMap((sizes, stretch): readonly RoundRow[] => {
    const begin = first;
    first += sizes.length;
    const share = Math.max(2, Math.round((roundRows * sizes.length) / Math.max(1, rounds)));
    return thinOut(sizes, share).map(({ round, tokens }) => ({ round: begin + round, stretch, tokens }));
  });
  const shown = rows.slice(0, 2 * roundRows);
  const caption =
    shown.length < rounds ? `Tokens in context, ${shown.length} of ${rounds} rounds` : 'Tokens in context';
  return table(
    shown,
    [
      { heading: 'round', isRowHeading: true, cell: ({ round }) => String(round) },
      ...(stretches.length > 1 ? [stretchColumn] : []),
      { heading: 'tokens', isNumber: true, cell: ({ tokens }) => formatCount(tokens) },
    ],
    { caption },
  );
}

/** Several series of one session in a few numbers each. */
export function seriesTable(series: readonly RoundSeries[]): Markup | undefined {
  return table(
    series,
    [
      { heading: 'row', isRowHeading: true, cell: ({ name }) => quoted(name, 40) },
      { heading: 'rounds', isNumber: true, cell: (one) => formatCount(countRounds(one)) },
      { heading: 'compactions', isNumber: true, cell: ({ compactions }) => formatCount(compactions.length) },
      {
        heading: 'most tokens',
        isNumber: true,
        cell: ({ stretches }) => formatCount(Math.max(0, ...stretches.map(largestOf))),
      },
      {
        heading: 'at the end',
        isNumber: true,
        cell: ({ stretches }) => formatCount(stretches.at(-1)?.at(-1) ?? 0),
      },
    ],
    { caption: 'Tokens in context' },
  );
}
