import { type Chain, namesOfConversation } from './chain.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { ChainLink, Store } from './store.ts';

export interface FindOptions {
  readonly tenant: string;
  readonly configuration: string;
  readonly chain: Chain;
  /** Boundaries at which this conversation may be cut, ascending. */
  readonly cuts: readonly number[];
  /** A checkpoint that applied before. Shorter ones are not asked for; whether it is still there is. */
  readonly known?: Checkpoint | undefined;
}

/** The longest checkpoint that is true of a conversation. The store is not asked where there cannot be one. */
export async function findCheckpoint(store: Store, options: FindOptions): Promise<Checkpoint | undefined> {
  const { tenant, configuration, chain, cuts, known } = options;
  const from = known?.boundary ?? 1;
  const to = cuts.at(-1) ?? 0;
  if (to < from) return undefined;
  const isTrue = (link: ChainLink) => isLinkOf(link, options);
  const conversations = namesOfConversation(chain);
  const found = await store.find({ tenant, configuration, conversations, from, to, isTrue });
  // The very same record as before stays the very same value, and what was worked out from it stays known.
  if (found !== undefined && found.chain === known?.chain && found.boundary === known.boundary) return known;
  return found !== undefined && isTrueOf(found, options) ? found : undefined;
}

/** Whether a checkpoint speaks of this very conversation. Nobody is trusted to have looked. */
export function isTrueOf(checkpoint: Checkpoint, options: Omit<FindOptions, 'known'>): boolean {
  return (
    checkpoint.tenant === options.tenant &&
    checkpoint.configuration === options.configuration &&
    checkpoint.boundary > 0 &&
    isLinkOf(checkpoint, options)
  );
}

function isLinkOf(
  { boundary, chain: link }: ChainLink,
  { chain, cuts }: Pick<FindOptions, 'chain' | 'cuts'>,
): boolean {
  return cuts.includes(boundary) && chain.linkAt(boundary) === link;
}
