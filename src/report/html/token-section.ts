import { printable } from '../../conversation/printable.ts';
import type { TokenPart } from '../inspection.ts';
import { formatCount, formatShare } from '../terminal.ts';
import { meter, stackedBar, swatch } from './charts.ts';
import { html, type Markup, quoted } from './markup.ts';
import { countColumn, figureColumn, table } from './page.ts';

/** Where tokens go, as one bar. `whole` makes bars comparable: what the full width stands for. */
export function tokenBar(parts: readonly TokenPart[], whole?: number): Markup {
  const total = sumOf(parts);
  return stackedBar(
    parts.map(({ name, tokens, colour }) => ({
      value: tokens,
      label: printable(name, 30),
      colour,
      detail: `${name}: ${formatCount(tokens)} tokens, ${formatShare(tokens / total)}`,
    })),
    `Bar of ${formatCount(total)} tokens by what they are spent on. The table below has the numbers.`,
    whole,
  );
}

/** Where tokens go, as a table, the largest part first. */
export function tokenTable(parts: readonly TokenPart[], caption: string): Markup | undefined {
  const total = sumOf(parts);
  const bySize = parts.toSorted((left, right) => right.tokens - left.tokens);
  const largest = bySize[0]?.tokens ?? 1;
  return table(
    bySize,
    [
      { heading: 'spent on', isRowHeading: true, cell: nameOfPart },
      {
        heading: '',
        isRoomy: true,
        isMeter: true,
        cell: ({ tokens, colour }) => meter(Math.max(0, tokens / largest), colour),
      },
      countColumn('tokens', ({ tokens }) => tokens),
      figureColumn('share', ({ tokens }) => formatShare(tokens / total)),
    ],
    { caption },
  );
}

/** The colour and the name of a part. */
export function nameOfPart({ name, isTool, colour }: TokenPart): Markup {
  return isTool ? html`${swatch(colour)}${quoted(name, 60)}` : html`${swatch(colour)}${name}`;
}

function sumOf(parts: readonly TokenPart[]): number {
  return Math.max(
    1,
    parts.reduce((sum, { tokens }) => sum + tokens, 0),
  );
}
