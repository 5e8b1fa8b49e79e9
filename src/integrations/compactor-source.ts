import { type Compactor, createCompactor } from '../compaction/compactor.ts';
import type { CompactorOptions } from '../compaction/options.ts';

/** A compactor for one conversation, or the options of those that are made, one for each conversation. */
export type CompactorSource = Compactor | CompactorOptions;

/** Makes the compactors of conversations in one format: always the same where one is given, else one each time. */
export function compactorsFrom(source: CompactorSource, format: string): () => Compactor {
  return isCompactor(source) ? () => source : () => createCompactor({ format, ...source });
}

function isCompactor(source: CompactorSource): source is Compactor {
  return 'maybeCompact' in source;
}
