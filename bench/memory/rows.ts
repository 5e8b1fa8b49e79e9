/** Who compacts: the path that users take, once or in a chain. */

import type { Row } from '../../src/lab/row.ts';
import { chainedRow } from './chain.ts';
import { type CompactOptions, compactTo } from './compact-to.ts';

/** The automatic path with our own summarizer. */
export const OWN_ROW = 'roundfold';

/** One compaction of the whole, and a row for each length of a chain. */
export function ownRows(chains: readonly number[], options: CompactOptions): readonly Row[] {
  const own: Row = {
    name: OWN_ROW,
    compact: async ({ prefix }, budgetTokens) => (await compactTo(prefix, budgetTokens, options)).messages,
  };
  return [own, ...chains.map((times) => chainedRow(own, times, options.countMessages))];
}
