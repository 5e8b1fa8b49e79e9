import { type Chain, namesOfConversation } from '../conversation/chain.ts';
import type { ChainLink, Checkpoint, CheckpointLookup, Store } from '../stores/store.ts';
import type { Cuts } from './cuts.ts';

export interface FindOptions {
  readonly tenant: string;
  readonly configuration: string;
  readonly chain: Chain;
  /** Where this conversation may be cut. */
  readonly cuts: Cuts;
  /** A checkpoint that applied before. Shorter ones are not asked for; whether it is still there is. */
  readonly known?: Checkpoint | undefined;
}

/** The longest checkpoint that is true of a conversation. The store is not asked where there cannot be one. */
export async function findCheckpoint(store: Store, options: FindOptions): Promise<Checkpoint | undefined> {
  const { chain, cuts } = options;
  const isLink = (link: ChainLink) => isLinkOf(link, chain);
  const longest = await ask(store, options, { to: chain.length, isTrue: isLink });
  if (longest === undefined || isTrueOf(longest, options)) return longest;
  // It was made before something came behind it that must not be parted from it. A shorter one may do.
  const shorter = cuts.all().filter((cut) => cut < longest.boundary);
  const isShorter = new Set(shorter);
  const isTrue = (link: ChainLink) => isShorter.has(link.boundary) && isLink(link);
  const found = await ask(store, options, { to: shorter.at(-1) ?? 0, isTrue });
  return found !== undefined && isTrueOf(found, options) ? found : undefined;
}

/** What a store has from the known one on. That very record stays the very same value, and what was worked out from it known. */
async function ask(
  store: Store,
  { tenant, configuration, chain, known }: FindOptions,
  { to, isTrue }: Pick<CheckpointLookup, 'to' | 'isTrue'>,
): Promise<Checkpoint | undefined> {
  const from = known?.boundary ?? 1;
  if (to < from) return undefined;
  const conversations = namesOfConversation(chain);
  const found = await store.find({ tenant, configuration, conversations, from, to, isTrue });
  return found !== undefined && found.chain === known?.chain && found.boundary === known.boundary
    ? known
    : found;
}

/** Whether a checkpoint speaks of this very conversation. Nobody is trusted to have looked. */
export function isTrueOf(checkpoint: Checkpoint, options: Omit<FindOptions, 'known'>): boolean {
  return (
    checkpoint.tenant === options.tenant &&
    checkpoint.configuration === options.configuration &&
    checkpoint.boundary > 0 &&
    isLinkOf(checkpoint, options.chain) &&
    options.cuts.has(checkpoint)
  );
}

/** A chain has no links behind its end. */
function isLinkOf({ boundary, chain: link }: ChainLink, chain: Chain): boolean {
  return boundary <= chain.length && chain.linkAt(boundary) === link;
}
