import { printable } from '../../conversation/printable.ts';
import { key, lookOf } from '../charts/marks.ts';
import { roundsChart } from '../charts/rounds-chart.ts';
import type { ComparedSession, Comparison } from '../comparison.ts';
import { countOf } from '../terminal.ts';
import { costCharts, recallCharts } from './comparison-charts.ts';
import { lostTable, panelTable } from './comparison-tables.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { renderPage, section } from './page.ts';
import { receiptParts } from './receipt-section.ts';
import { type Detail, detailFor, roundsFigure, seriesTable } from './rounds-section.ts';
import { folded } from './table.ts';

/** How strategies did on the same sessions, as one self-contained page. */
export function renderComparisonPage(comparison: Comparison): string {
  const { title, about, lost, example } = comparison;
  const recall = recallCharts(comparison);
  const cost = costCharts(comparison);
  const parts = [
    recall === undefined
      ? undefined
      : section('recall', 'Recall against tokens kept', [
          html`<p>How much of what the agent needed later is still there. Whiskers are 95 % intervals over sessions; the dashed line is the most names or edit lines that any text of this size could keep.</p>`,
          recall,
        ]),
    cost.length === 0
      ? undefined
      : section('cost', 'Cost against recall', [
          html`<p>Of a session, replayed through a prompt cache. Further up and to the left is better. When a strategy compacts decides what it costs: only those that compact at the same moments share a chart.</p>`,
          ...cost,
        ]),
    section('figures', 'Figures', [measureList(comparison), panelTable(comparison)]),
    lost.length === 0
      ? undefined
      : section('lost', 'What was lost', [
          html`<p>Each of these was needed by a later call of the recorded session, or would have answered a question of somebody who takes over.</p>`,
          lostTable(lost),
        ]),
    sessionsSection(comparison.sessions),
    example === undefined
      ? undefined
      : section('receipt', 'A receipt', [
          html`<p>What ${quoted(example.account.strategy, 40)} did to ${quotedPath(example.file)}.</p>`,
          ...receiptParts(example.account),
        ]),
  ];
  return renderPage({
    title: `${printable(title, 80)} · roundfold`,
    kind: 'comparison',
    heading: quoted(title, 100),
    lead: quoted(about.join(' · '), 300),
    body: parts.filter((part) => part !== undefined),
  });
}

function measureList({ kept, measures }: Comparison): Markup | undefined {
  const items = [kept, ...measures].map(({ name, help }) => html`<dt>${name}</dt><dd>${help}</dd>`);
  return items.length === 0
    ? undefined
    : folded('What the columns say', html`<dl class="words">${items}</dl>`);
}

function sessionsSection(sessions: readonly ComparedSession[]): Markup | undefined {
  if (sessions.length === 0) return undefined;
  const detail = detailFor(sessions.length);
  return section('sessions', 'Tokens per round', [
    html`<p>${countOf(sessions.length, 'session')}, replayed turn by turn.</p>`,
    ...sessions.map((session, index) => sessionDetails(session, index, detail)),
  ]);
}

function sessionDetails({ name, series, limits }: ComparedSession, index: number, detail: Detail): Markup {
  const [only] = series;
  const content =
    series.length === 1 && only !== undefined
      ? roundsFigure(only, limits, detail)
      : severalSeries({ name, series, limits }, detail);
  return html`<details class="session"${index === 0 ? html` open` : undefined}><summary>${quotedPath(name, 80)}</summary>${content}</details>`;
}

function severalSeries({ series, limits }: ComparedSession, detail: Detail): Markup {
  const names = series.map(({ name }, index) => ({ name: quoted(name, 40), look: lookOf(index) }));
  const chart = roundsChart(series, {
    limits,
    points: detail.chartPoints,
    heightPixels: detail.chartHeightPixels,
  });
  return html`${key(names)}<figure>${chart}</figure>${folded('Numbers of this chart', seriesTable(series))}`;
}
