import type { Fate } from '../../compaction/plan/plan.ts';
import { stackedBar, swatch } from '../charts/stacked-bar.ts';
import { ACCOUNTED_RUNS, type AccountedRun, type CompactionAccount } from '../compaction-account.ts';
import { fateWords } from '../fate-words.ts';
import { formatCount, formatShare } from '../terminal.ts';
import { html, type Markup, quoted } from './markup.ts';
import { table } from './table.ts';

const COLOURS: Readonly<Record<Fate, string>> = {
  verbatim: 's2',
  reduced: 's4',
  summarised: 's0',
  dropped: 's1',
};

const FATE_ORDER: readonly Fate[] = ['verbatim', 'reduced', 'summarised', 'dropped'];

/** What became of every message: a strip from the first to the last, sums per fate, and the runs. */
export function receiptParts({ runs }: CompactionAccount): readonly (Markup | undefined)[] {
  const total = Math.max(1, sumOf(runs));
  const strip = stackedBar(
    runs.map((run) => ({
      value: run.tokens,
      colour: COLOURS[run.fate],
      detail: `${namesOf(run)}: ${fateWords[run.fate]}, ${formatCount(run.tokens)} tokens`,
    })),
    { description: 'The conversation from its first message to its last, by what became of each.' },
  );
  const sums = FATE_ORDER.map((fate) => ({ fate, runs: runs.filter((run) => run.fate === fate) })).filter(
    (sum) => sum.runs.length > 0,
  );
  return [
    strip,
    table(
      sums,
      [
        { heading: 'fate', isRowHeading: true, cell: ({ fate }) => nameOfFate(fate) },
        {
          heading: 'messages',
          isNumber: true,
          cell: (sum) => formatCount(sum.runs.reduce((count, { start, end }) => count + end - start, 0)),
        },
        { heading: 'tokens before', isNumber: true, cell: (sum) => formatCount(sumOf(sum.runs)) },
        { heading: 'share', isNumber: true, cell: (sum) => formatShare(sumOf(sum.runs) / total) },
      ],
      { caption: 'Every message is in exactly one of these' },
    ),
    runTable(runs),
  ];
}

function runTable(runs: readonly AccountedRun[]): Markup | undefined {
  return table(
    runs,
    [
      { heading: 'messages', isRowHeading: true, isWhole: true, cell: rangeOf },
      { heading: 'fate', isWhole: true, cell: ({ fate }) => nameOfFate(fate) },
      { heading: 'begins with', cell: ({ about }) => quoted(about, 72) },
      { heading: 'tokens', isNumber: true, cell: ({ tokens }) => formatCount(tokens) },
    ],
    {
      caption: 'Receipt: neighbouring messages of one fate',
      isWide: true,
      limit: ACCOUNTED_RUNS,
      noun: 'run',
    },
  );
}

function nameOfFate(fate: Fate): Markup {
  return html`${swatch(COLOURS[fate])}${fateWords[fate]}`;
}

function namesOf(run: AccountedRun): string {
  return run.end - run.start > 1 ? `messages ${rangeOf(run)}` : `message ${rangeOf(run)}`;
}

function rangeOf({ start, end }: AccountedRun): string {
  return end - start > 1 ? `${start}–${end - 1}` : String(start);
}

function sumOf(runs: readonly AccountedRun[]): number {
  return runs.reduce((sum, { tokens }) => sum + tokens, 0);
}
