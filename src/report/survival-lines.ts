import { printable } from '../conversation/printable.ts';
import type { FactKind, Survival } from '../memory/facts/facts.ts';
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

/**
 * What became of the facts in the messages that a summary stands for, a line for each kind, and below them the demands of the
 * user that are missing; empty without a summary.
 */
export function survivalLines(survival: readonly Survival[] = [], indent = ''): string {
  const rows = survival.map(({ kind, found, kept, lost }) => {
    const missing = lost === 0 ? '' : `, ${formatCount(lost)} missing`;
    return [factNames[kind], `${formatCount(kept)} of ${formatCount(found)} kept${missing}`];
  });
  const demands = survival.filter(({ kind }) => kind === 'constraint').flatMap(({ examples }) => examples);
  const missing = demands.map((demand) => `${indent}missing: ${printable(demand)}\n`);
  return `${drawTable(rows, [{ align: 'left' }, { align: 'left' }], indent)}${missing.join('')}`;
}
