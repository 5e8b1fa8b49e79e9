import { causeNames, purposeNames } from '../money-text.ts';
import type { SpentUntil } from '../session-details.ts';
import type { MissTotal, ModelCost, MoneyReplay, SessionMoney } from '../session-money.ts';
import { formatCost, formatDollars } from '../sessions-text.ts';
import { countOf, formatShare, formatShort } from '../terminal.ts';
import { axisTo, meter, outline, outlineBelow, place, plot, stretched, tickCount } from './charts.ts';
import { html, type Markup, quoted } from './markup.ts';
import { figureColumn, type TableColumn, table } from './page.ts';

/** Where money went: by model, by what it was spent on, what the caches missed and why, and what a replay says. */
export function moneyTables(money: SessionMoney): Markup {
  const tables = [modelTable(money), purposeTable(money), missTable(money), replayTable(money.replay)];
  return html`<div class="pair">${tables.filter((piece) => piece !== undefined).map((piece) => html`<div>${piece}</div>`)}</div>`;
}

function shareColumns<Row extends { readonly dollars: number }>(
  { cost }: SessionMoney,
  rows: readonly Row[],
): readonly TableColumn<Row>[] {
  const most = Math.max(Number.MIN_VALUE, ...rows.map(({ dollars }) => dollars));
  return [
    { heading: '', isRoomy: true, isMeter: true, cell: ({ dollars }) => meter(dollars / most) },
    figureColumn('cost', ({ dollars }) => formatDollars(dollars)),
    figureColumn('share', ({ dollars }) => formatShare(dollars / (cost.dollars || 1))),
  ];
}

function modelTable(money: SessionMoney): Markup | undefined {
  return table<ModelCost>(
    money.models,
    [
      {
        heading: 'model',
        isRowHeading: true,
        cell: ({ model, responses }) =>
          html`${quoted(model ?? 'unknown model', 60)}<small>${countOf(responses, 'response')}</small>`,
      },
      figureColumn('cost', formatCost),
      figureColumn('share', ({ dollars }) => formatShare(dollars / (money.cost.dollars || 1))),
    ],
    { caption: 'By model', limit: 8, noun: 'model' },
  );
}

function purposeTable(money: SessionMoney): Markup | undefined {
  return table(
    money.spentOn,
    [
      { heading: 'spent on', isRowHeading: true, cell: ({ purpose }) => purposeNames[purpose] },
      ...shareColumns(money, money.spentOn),
    ],
    { caption: 'Spent on: adds up to the recorded cost' },
  );
}

function missTable(money: SessionMoney): Markup | undefined {
  return table<MissTotal>(
    money.cacheMisses,
    [
      {
        heading: 'cause',
        isRowHeading: true,
        cell: ({ cause, requests, tokens }) =>
          html`${causeNames[cause]}<small>${countOf(requests, 'request')}, ${formatShort(tokens)} tokens</small>`,
      },
      ...shareColumns(money, money.cacheMisses),
    ],
    { caption: 'Not read from the cache, and what that cost beyond reading it' },
  );
}

function replayTable(replay: MoneyReplay | undefined): Markup | undefined {
  if (replay === undefined) return undefined;
  const { recorded, asItWas, withRoundfold, saved, compactions } = replay;
  const rows = [
    { name: 'recorded', dollars: recorded },
    { name: 'as it was', dollars: asItWas },
    { name: `with roundfold, ${countOf(compactions, 'compaction')}`, dollars: withRoundfold },
    { name: 'saved', dollars: saved },
  ];
  return table(
    rows,
    [
      { heading: 'replay', isRowHeading: true, cell: ({ name }) => name },
      figureColumn('cost', ({ dollars }) => formatDollars(dollars)),
      figureColumn('share', ({ dollars }) => formatShare(dollars / (recorded || 1))),
    ],
    { caption: 'Sent again at the same prices' },
  );
}

const HEIGHT_PIXELS = 160;

/** What was spent until each response, as a curve; nothing where nothing was. */
export function spentChart(spent: readonly SpentUntil[]): Markup | undefined {
  const last = spent.at(-1);
  if (last === undefined || last.dollars === 0 || spent.length < 2) return undefined;
  const x = axisTo(last.response, { label: 'response', isExact: true, ticks: 5, format: tickCount });
  const y = axisTo(last.dollars, { label: 'dollars spent', format: formatDollars });
  const points = spent.map(({ response, dollars }) => ({ x: place(response, x), y: place(dollars, y) }));
  const paths = [
    html`<path d="${outlineBelow(points)}" class="area s0"/>`,
    html`<path d="${outline(points)}" class="curve s0"/>`,
  ];
  const description = `Cost over ${countOf(last.response, 'response')}, ${formatDollars(last.dollars)} in all`;
  return html`<figure>${plot({ description, heightPixels: HEIGHT_PIXELS, x, y, marks: [stretched(paths)] })}</figure>`;
}

/** Money of many sessions: in which the most went, each with a link. */
export function spenderTable<Row extends { readonly dollars: number }>(
  rows: readonly Row[],
  name: (row: Row) => Markup,
  whole: number,
): Markup | undefined {
  const most = Math.max(Number.MIN_VALUE, ...rows.map(({ dollars }) => dollars));
  return table(
    rows,
    [
      { heading: 'session', isRowHeading: true, cell: name },
      { heading: '', isRoomy: true, isMeter: true, cell: ({ dollars }) => meter(dollars / most) },
      figureColumn('cost', ({ dollars }) => formatDollars(dollars)),
      figureColumn('share', ({ dollars }) => formatShare(dollars / (whole || 1))),
    ],
    { caption: 'The largest spenders' },
  );
}
