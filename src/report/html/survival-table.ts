import type { Survival } from '../../memory/facts/facts.ts';
import { factNames } from '../survival-lines.ts';
import { formatCount } from '../terminal.ts';
import { html, type Markup, quoted } from './markup.ts';
import { table } from './table.ts';

/** Examples are looked at, not read. */
const SHOWN_EXAMPLES = 3;

/** What became of the facts in the messages that a summary stands for, by kind; nothing without any. */
export function survivalTable(survival: readonly Survival[]): Markup | undefined {
  return table(
    survival,
    [
      { heading: 'kind', isRowHeading: true, isWhole: true, cell: ({ kind }) => factNames[kind] },
      { heading: 'found', isNumber: true, cell: ({ found }) => formatCount(found) },
      { heading: 'kept', isNumber: true, cell: ({ kept }) => formatCount(kept) },
      { heading: 'lost', isNumber: true, cell: ({ lost }) => formatCount(lost) },
      { heading: 'for example', isRoomy: true, cell: ({ examples }) => exampleList(examples) },
    ],
    { caption: 'Facts in the messages that the summary stands for, in their own words' },
  );
}

function exampleList(examples: readonly string[]): Markup {
  const shown = examples.slice(-SHOWN_EXAMPLES).map((example) => quoted(example, 48));
  return html`${shown.map((example, index) => html`${index === 0 ? '' : ', '}${example}`)}`;
}
