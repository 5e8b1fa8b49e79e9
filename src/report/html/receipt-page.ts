import type { Fate } from '../../compaction/plan/plan.ts';
import { printable } from '../../conversation/printable.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import {
  ACCOUNTED_RUNS,
  type AccountedRun,
  type CompactionAccount,
  type ContextSize,
  fateWords,
} from '../compaction-account.ts';
import type { TokenPart } from '../inspection.ts';
import type { CarriedMemory } from '../memory-lines.ts';
import { factNames } from '../preview.ts';
import { formatCount, formatShare } from '../terminal.ts';
import { stackedBar, swatch } from './charts.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { memorySection } from './memory-section.ts';
import { countColumn, figureColumn, renderPage, type Statistic, section, statistics, table } from './page.ts';
import { nameOfPart, tokenBar } from './token-section.ts';

export interface ReceiptPage {
  readonly file: string;
  readonly account: CompactionAccount;
  /** What stands for earlier messages afterwards. Default: nothing. */
  readonly memories?: readonly CarriedMemory[] | undefined;
}

/** What a compaction did, before and after, as one self-contained page. */
export function renderReceiptPage({ file, account, memories = [] }: ReceiptPage): string {
  const { before, after, strategy, reason } = account;
  const memory = memorySection(memories);
  return renderPage({
    title: `${printable(file, 80)} · roundfold`,
    kind: 'compaction',
    heading: quotedPath(file, 80),
    lead: html`Compacted by ${quoted(strategy, 40)}${reason === undefined ? undefined : html`: ${quoted(reason, 160)}`}`,
    body: [
      statistics(statisticsOf(account)),
      section('before-after', 'Before and after', sizeParts(before, after)),
      section('receipt', 'What became of every message', receiptParts(account)),
      ...(memory === undefined ? [] : [memory]),
      ...(account.survival === undefined || account.survival.length === 0
        ? []
        : [section('survival', 'What survived the summary', [survivalTable(account.survival)])]),
    ],
  });
}

function statisticsOf({ before, after, targetTokens }: CompactionAccount): readonly Statistic[] {
  const isMet = targetTokens === undefined || after.tokens <= targetTokens;
  return [
    { name: 'Before', value: formatCount(before.tokens), detail: `tokens in ${before.messages} messages` },
    { name: 'After', value: formatCount(after.tokens), detail: `tokens in ${after.messages} messages` },
    { name: 'Kept', value: formatShare(after.tokens / Math.max(1, before.tokens)), detail: 'of the tokens' },
    ...(targetTokens === undefined
      ? []
      : [
          {
            name: 'Budget',
            value: formatCount(targetTokens),
            detail: isMet ? 'met' : 'not met',
            level: isMet ? 'ok' : 'warning',
          } as const,
        ]),
  ];
}

/** The size of a context before and after, as bars of one scale and as a table. */
export function sizeParts(before: ContextSize, after: ContextSize): readonly (Markup | undefined)[] {
  return [
    html`<p>Both bars are drawn to the same scale.</p>`,
    sizeFigure('Before', before, before.tokens),
    sizeFigure('After', after, Math.max(before.tokens, after.tokens)),
    partTable(before.parts, after.parts),
  ];
}

function sizeFigure(name: string, { tokens, parts }: ContextSize, whole: number): Markup {
  return html`<figure><figcaption>${name} <small>${formatCount(tokens)} tokens</small></figcaption>${tokenBar(parts, whole)}</figure>`;
}

interface PartChange {
  readonly part: TokenPart;
  readonly before: number;
  readonly after: number;
}

function partTable(before: readonly TokenPart[], after: readonly TokenPart[]): Markup | undefined {
  const later = new Map(after.map((part) => [part.name, part]));
  const earlier = new Set(before.map(({ name }) => name));
  const rows: readonly PartChange[] = [
    ...before.map((part) => ({ part, before: part.tokens, after: later.get(part.name)?.tokens ?? 0 })),
    ...after
      .filter(({ name }) => !earlier.has(name))
      .map((part) => ({ part, before: 0, after: part.tokens })),
  ];
  return table(
    rows.toSorted((left, right) => right.before - left.before),
    [
      { heading: 'spent on', isRowHeading: true, cell: ({ part }) => nameOfPart(part) },
      countColumn('before', (row) => row.before),
      countColumn('after', (row) => row.after),
      figureColumn('kept', keptWords),
    ],
    {
      caption:
        'Estimated tokens. A tool stands for its calls and their results; kept is the share of what a row had before',
    },
  );
}

/** What was added to a row is no part of what it had. */
function keptWords({ before, after }: PartChange): string {
  if (before === 0) return 'new';
  return after > before ? `all, and ${formatCount(after - before)} more` : formatShare(after / before);
}

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
    'The conversation from its first message to its last, by what became of each.',
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
        countColumn('messages', (sum) => sum.runs.reduce((count, { start, end }) => count + end - start, 0)),
        countColumn('tokens before', (sum) => sumOf(sum.runs)),
        figureColumn('share', (sum) => formatShare(sumOf(sum.runs) / total)),
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
      countColumn('tokens', ({ tokens }) => tokens),
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

/** How many examples of a kind are shown. */
const SHOWN_EXAMPLES = 3;

/** What became of the facts in the messages that a summary stands for, by kind; nothing without any. */
export function survivalTable(survival: readonly Survival[]): Markup | undefined {
  return table(
    survival,
    [
      { heading: 'kind', isRowHeading: true, isWhole: true, cell: ({ kind }) => factNames[kind] },
      countColumn('found', ({ found }) => found),
      countColumn('kept', ({ kept }) => kept),
      countColumn('lost', ({ lost }) => lost),
      { heading: 'for example', isRoomy: true, cell: ({ examples }) => exampleList(examples) },
    ],
    { caption: 'Facts in the messages that the summary stands for, in their own words' },
  );
}

function exampleList(examples: readonly string[]): Markup {
  const shown = examples.slice(-SHOWN_EXAMPLES).map((example) => quoted(example, 48));
  return html`${shown.map((example, index) => html`${index === 0 ? '' : ', '}${example}`)}`;
}
