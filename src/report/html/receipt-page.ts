import { printable } from '../../conversation/printable.ts';
import type { CarriedMemory } from '../carried-memory.ts';
import type { CompactionAccount, ContextSize } from '../compaction-account.ts';
import { formatCount, formatShare } from '../terminal.ts';
import type { TokenPart } from '../token-parts.ts';
import { html, type Markup, quoted, quotedPath } from './markup.ts';
import { memorySection } from './memory-section.ts';
import { renderPage, type Statistic, section, statistics } from './page.ts';
import { receiptParts } from './receipt-section.ts';
import { survivalTable } from './survival-table.ts';
import { table } from './table.ts';
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
      section('before-after', 'Before and after', [
        html`<p>Both bars are drawn to the same scale.</p>`,
        sizeFigure('Before', before, before.tokens),
        sizeFigure('After', after, Math.max(before.tokens, after.tokens)),
        partTable(before.parts, after.parts),
      ]),
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
      { heading: 'before', isNumber: true, cell: (row) => formatCount(row.before) },
      { heading: 'after', isNumber: true, cell: (row) => formatCount(row.after) },
      {
        heading: 'kept',
        isNumber: true,
        cell: keptWords,
      },
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
