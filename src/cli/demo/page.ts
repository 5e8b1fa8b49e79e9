import { key, lookOf } from '../../report/charts/marks.ts';
import { roundsChart } from '../../report/charts/rounds-chart.ts';
import { html, type Markup, quoted } from '../../report/html/markup.ts';
import { renderPage, type Statistic, section, statistics } from '../../report/html/page.ts';
import { receiptParts } from '../../report/html/receipt-section.ts';
import { detailFor, roundsFigure, seriesTable } from '../../report/html/rounds-section.ts';
import { survivalTable } from '../../report/html/survival-table.ts';
import { folded, table } from '../../report/html/table.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import { type DemoResult, figuresOf, seriesOf, tableNotes, tableRows } from './figures.ts';
import type { DemoCompaction } from './play.ts';

/** Both runs as one self-contained page. */
export function renderDemoPage(result: DemoResult): string {
  const { model, windowTokens, seed, client, without } = result;
  const { refusal } = without;
  return renderPage({
    title: 'demo · roundfold',
    kind: 'demo',
    heading: html`One session, without and with roundfold`,
    lead: html`${model}, a window of ${formatCount(windowTokens)} tokens, seed ${seed}, sent by ${client} to a provider on this machine`,
    body: [
      statistics(statisticsOf(result)),
      section('context', 'Context, request by request', [
        refusal === undefined
          ? undefined
          : html`<p>Without roundfold the provider refused request ${without.requests.length} with ${refusal.status}: <code>${quoted(refusal.message, 160)}</code></p>`,
        ...charts(result),
      ]),
      section('figures', 'Figures', [
        figureTable(result),
        ...tableNotes(result).map((note) => html`<p class="note">${note}</p>`),
      ]),
      section('receipts', 'Receipts', [
        html`<p>What became of every message in each compaction.</p>`,
        ...result.with.compactions.map(receipt),
      ]),
    ],
  });
}

function statisticsOf(result: DemoResult): readonly Statistic[] {
  const { without, with: kept } = figuresOf(result);
  return [
    {
      name: 'Without',
      value: `${without.stepsDone} of ${result.steps}`,
      detail: without.refused === 0 ? 'steps done' : 'steps, then refused',
      level: without.refused === 0 ? 'ok' : 'critical',
    },
    {
      name: 'With roundfold',
      value: `${kept.stepsDone} of ${result.steps}`,
      detail: countOf(kept.refused, 'refusal'),
      level: kept.refused === 0 ? 'ok' : 'critical',
    },
    {
      name: 'Rules kept',
      value: `${kept.survived.rules.kept} of ${kept.survived.rules.of}`,
      detail: 'word for word',
    },
    {
      name: 'Peak context',
      value: formatCount(kept.peakTokens),
      detail: `${formatCount(without.peakTokens)} without`,
    },
  ];
}

function charts(result: DemoResult): readonly (Markup | undefined)[] {
  const { windowTokens, triggerTokens, targetTokens } = result;
  const kept = seriesOf('with roundfold', result.with);
  const series = [kept, seriesOf('without', result.without)];
  const limits = { windowTokens, triggerTokens, targetTokens };
  const detail = detailFor(series.length);
  const both = roundsChart(series, {
    limits,
    points: detail.chartPoints,
    heightPixels: detail.chartHeightPixels,
  });
  return [
    key(series.map(({ name }, index) => ({ name, look: lookOf(index) }))),
    html`<figure><figcaption>Both runs</figcaption>${both}</figure>`,
    folded('Both runs in numbers', seriesTable(series)),
    html`<figure><figcaption>With roundfold <small>a mark for each of ${countOf(kept.compactions.length, 'compaction')}</small></figcaption></figure>`,
    roundsFigure(kept, limits, detail),
  ];
}

function figureTable(result: DemoResult): Markup | undefined {
  return table(
    tableRows(result),
    [
      { heading: '', isRowHeading: true, cell: ({ name }) => name },
      { heading: 'without', isNumber: true, cell: ({ without }) => without },
      { heading: 'with roundfold', isNumber: true, cell: (row) => row.with },
    ],
    {
      caption: 'The same session, played twice',
      groupName: ({ startsSurvival }, index) => {
        if (index === 0) return 'The run';
        return startsSurvival === true ? 'Still there at its end' : undefined;
      },
    },
  );
}

function receipt({ step, account }: DemoCompaction, index: number): Markup {
  const { before, after, reason } = account;
  const sizes = `${formatCount(before.tokens)} → ${formatCount(after.tokens)} tokens`;
  return html`
    <details class="session"${index === 0 ? html` open` : undefined}>
    <summary>${index + 1}. Before step ${step}: ${sizes}</summary>
    <p class="note">Made by ${quoted(account.strategy, 40)}${reason === undefined ? '' : `: ${reason}`}</p>
    ${receiptParts(account).filter((part) => part !== undefined)}
    ${survivalTable(account.survival ?? [])}
    </details>`;
}
