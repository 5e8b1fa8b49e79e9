import { formatFigure } from '../../report/html/figures.ts';
import type { RoundSeries } from '../../report/round-series.ts';
import { formatCount } from '../../report/terminal.ts';
import type { Refusal } from './client.ts';
import type { DemoRun } from './play.ts';
import type { Share, Survived } from './survived.ts';

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

/** A run in numbers. Plain data. */
export interface RunFigures {
  readonly stepsDone: number;
  readonly requests: number;
  readonly refused: number;
  readonly compactions: number;
  readonly tokensSent: number;
  readonly peakTokens: number;
  /** In USD. */
  readonly cost: number;
  readonly survived: Survived;
  readonly refusal: Refusal | undefined;
}

/** The numbers of a run. What was refused was sent as well, but never was context. */
export function figuresOf({
  stepsDone,
  requests,
  compactions,
  refusal,
  cost,
  survived,
}: DemoRun): RunFigures {
  const sizes = requests.map(({ promptTokens }) => promptTokens);
  const answered = sizes.slice(0, stepsDone);
  return {
    stepsDone,
    requests: requests.length,
    refused: refusal === undefined ? 0 : 1,
    compactions: compactions.length,
    tokensSent: sizes.reduce((sum, size) => sum + size, 0),
    peakTokens: Math.max(0, ...answered),
    cost: Number(cost.toFixed(6)),
    survived,
    refusal,
  };
}

/** A line of the table: what it says, and the words for both runs. */
export interface TableRow {
  readonly name: string;
  readonly without: string;
  readonly with: string;
  /** Begins what the last answered request of each run held. */
  readonly startsSurvival?: boolean;
}

/** The table, for a terminal and for the page. */
export function tableRows(result: DemoResult): readonly TableRow[] {
  const [without, kept] = [figuresOf(result.without), figuresOf(result.with)];
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
    row('tokens sent', ({ tokensSent }) => formatCount(tokensSent)),
    row('tokens sent per step', ({ tokensSent, stepsDone }) =>
      formatCount(tokensSent / Math.max(1, stepsDone)),
    ),
    row('peak context', ({ peakTokens }) => formatCount(peakTokens)),
    row('cost', ({ cost }) => formatFigure(cost, { unit: 'dollars' })),
    row('cost per step', ({ cost, stepsDone }) =>
      formatFigure(cost / Math.max(1, stepsDone), { unit: 'dollars' }),
    ),
    { ...row('rules, word for word', ({ survived }) => shareWords(survived.rules)), startsSurvival: true },
    row('changed files', ({ survived }) => shareWords(survived.changedFiles)),
    row('names', ({ survived }) => shareWords(survived.names)),
  ];
}

function shareWords({ kept, of }: Share): string {
  return `${formatCount(kept)} of ${formatCount(of)}`;
}

/** What the table does not say itself. */
export function tableNotes({ model }: DemoResult): readonly string[] {
  return [
    `Costs are list prices of ${model}, prompt cache included.`,
    'Rules, files and names: what of the work until then can be read in the last request that was answered; names are functions that were changed and invoices that were looked at.',
    'The model is a script: it says the same in both runs.',
  ];
}

/** The context of a run, request by request, for a chart. */
export function seriesOf(name: string, { requests, compactions }: DemoRun): RoundSeries {
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
