import { formatFigure } from '../../report/comparison.ts';
import { key, lookOf } from '../../report/html/charts.ts';
import { html, type Markup, quoted } from '../../report/html/markup.ts';
import {
  figureColumn,
  folded,
  renderPage,
  type Statistic,
  section,
  statistics,
  table,
} from '../../report/html/page.ts';
import { receiptParts, survivalTable } from '../../report/html/receipt-page.ts';
import { detailFor, roundsChart, roundsFigure, seriesTable } from '../../report/html/rounds.ts';
import type { RoundSeries } from '../../report/round-series.ts';
import { countOf, formatCount } from '../../report/terminal.ts';
import type { DemoCompaction, DemoRun } from './play.ts';
import type { Share } from './session.ts';

/** Both runs, and what they were played with. */
export interface DemoResult {
  readonly model: string;
  readonly windowTokens: number;
  readonly triggerTokens: number;
  readonly targetTokens: number;
  readonly seed: number;
  readonly client: string;
  readonly steps: number;
  readonly without: DemoRun;
  readonly with: DemoRun;
}

/** The numbers of both runs. Plain data. */
export function figuresOf(result: DemoResult) {
  const common = Math.min(result.without.stepsDone, result.with.stepsDone);
  return { without: runFigures(result.without, common), with: runFigures(result.with, common) };
}

function runFigures(run: DemoRun, common: number) {
  const { stepsDone, requests, compactions, refusal, survived } = run;
  const answered = requests.slice(0, stepsDone).map(({ promptTokens }) => promptTokens);
  return {
    stepsDone,
    requests: requests.length,
    refused: refusal === undefined ? 0 : 1,
    compactions: compactions.length,
    peakTokens: Math.max(0, ...answered),
    spent: spentOn(requests, stepsDone),
    // What those steps took that both runs have done: a run that ends early has sent nothing but short requests.
    spentInCommon: spentOn(requests.slice(0, common), common),
    survived,
    refusal,
  };
}

type RunFigures = ReturnType<typeof runFigures>;

/** What a number of steps took; the cost is in USD. */
function spentOn(requests: DemoRun['requests'], steps: number) {
  const cost = requests.reduce((sum, request) => sum + request.cost, 0);
  return {
    steps,
    tokensSent: requests.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    cost: Number(cost.toFixed(6)),
  };
}

type DemoSpent = ReturnType<typeof spentOn>;

/** A line of the table: what it says, and the words for both runs. */
interface TableRow {
  readonly name: string;
  readonly without: string;
  readonly with: string;
  /** Whether it is the first row of the group about the last request that was answered. */
  readonly startsSurvival?: boolean;
}

/** The table, for a terminal and for the page. */
export function tableRows(result: DemoResult): readonly TableRow[] {
  const { without, with: kept } = figuresOf(result);
  const common = without.spentInCommon.steps;
  const row = (name: string, words: (figures: RunFigures) => string): TableRow => ({
    name,
    without: words(without),
    with: words(kept),
  });
  return [
    row('steps done', ({ stepsDone }) => `${stepsDone} of ${result.steps}`),
    row('requests', ({ requests }) => formatCount(requests)),
    row('refused', ({ refused }) => formatCount(refused)),
    row('compactions', ({ compactions }) => formatCount(compactions)),
    row('peak context', ({ peakTokens }) => formatCount(peakTokens)),
    ...(common === result.steps
      ? []
      : [
          row(`tokens sent in ${common} steps`, ({ spentInCommon }) => tokensSent(spentInCommon)),
          row(`cost of ${common} steps`, ({ spentInCommon }) => formatCost(spentInCommon)),
        ]),
    row(`tokens sent in all ${result.steps} steps`, (figures) => whenDone(result, figures, tokensSent)),
    row(`cost of all ${result.steps} steps`, (figures) => whenDone(result, figures, formatCost)),
    { ...row('rules, word for word', ({ survived }) => shareWords(survived.rules)), startsSurvival: true },
    row('changed files', ({ survived }) => shareWords(survived.changedFiles)),
    row('names', ({ survived }) => shareWords(survived.names)),
  ];
}

/** What the whole session took; a run that has not come to its end never took it. */
function whenDone(
  { steps }: DemoResult,
  { spent, stepsDone }: RunFigures,
  words: (spent: DemoSpent) => string,
): string {
  return stepsDone === steps ? words(spent) : '–';
}

function tokensSent({ tokensSent: tokens }: DemoSpent): string {
  return formatCount(tokens);
}

function formatCost({ cost }: DemoSpent): string {
  return formatFigure(cost, { unit: 'dollars' });
}

function shareWords({ kept, of }: Share): string {
  return `${formatCount(kept)} of ${formatCount(of)}`;
}

/** What the table does not say itself. */
export function tableNotes({ model, steps, without: { stepsDone } }: DemoResult): readonly string[] {
  return [
    ...(stepsDone === steps
      ? []
      : [
          `Without roundfold the session ended after ${stepsDone} steps, so costs are compared over those. A compaction costs once, when the prompt cache is written anew, and saves with every request after it.`,
        ]),
    `Costs are list prices of ${model}, prompt cache included.`,
    'Rules, files and names: what of the work until then can be read in the last request that was answered; names are functions that were changed and invoices that were looked at.',
    'The model is a script: it says the same in both runs.',
  ];
}

/** The context of a run, request by request, for a chart. */
function seriesOf(name: string, { requests, compactions }: DemoRun): RoundSeries {
  const stretches = Array.from({ length: compactions.length + 1 }, (_, index) =>
    requests.filter((request) => request.compactions === index).map(({ promptTokens }) => promptTokens),
  );
  return {
    name,
    stretches,
    compactions: compactions.map(({ account }) => ({
      tokensBefore: account.before.tokens,
      tokensAfter: account.after.tokens,
      trigger: 'automatic',
    })),
  };
}

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
  const both = roundsChart(series, limits, detail);
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
      figureColumn('without', ({ without }) => without),
      figureColumn('with roundfold', (row) => row.with),
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
