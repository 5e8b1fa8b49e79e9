import type { FactKind } from '../core/facts.ts';
import type { Survival } from '../core/survival.ts';
import { drawTable, formatCount } from './terminal.ts';

/** What facts are called when there are several. */
export const factNames: Readonly<Record<FactKind, string>> = {
  constraint: 'constraints',
  'open-work': 'open work',
  ask: 'asks',
  path: 'changed files',
  error: 'errors',
  command: 'commands',
  id: 'ids',
  number: 'numbers',
};

/** What became of the facts in the messages that a summary stands for, a line for each kind; empty without a summary. */
export function survivalLines(survival: readonly Survival[] = [], indent = ''): string {
  const rows = survival.map(({ kind, found, kept, restored }) => {
    const back = restored === 0 ? '' : ` (${formatCount(restored)} brought back)`;
    return [factNames[kind], `${formatCount(kept + restored)} of ${formatCount(found)} kept${back}`];
  });
  return drawTable(rows, [{ align: 'left' }, { align: 'left' }], indent);
}
