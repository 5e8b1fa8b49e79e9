import type { Chain } from './chain.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Store } from './store.ts';

export interface FindOptions {
  readonly tenant: string;
  readonly configuration: string;
  readonly chain: Chain;
  /** Boundaries at which this conversation may be cut, ascending. */
  readonly cuts: readonly number[];
  /** A checkpoint that applied before. Shorter ones are not asked for; whether it is still there is. */
  readonly known?: Checkpoint | undefined;
}

/** The longest checkpoint that is true of a conversation, in one query; in none where there cannot be one. */
export async function findCheckpoint(store: Store, options: FindOptions): Promise<Checkpoint | undefined> {
  const { tenant, configuration, chain, cuts, known } = options;
  const from = known?.boundary ?? 1;
  const links: { readonly boundary: number; readonly chain: string }[] = [];
  for (const boundary of cuts) {
    const link = boundary < from ? undefined : chain.links[boundary];
    if (link !== undefined) links.push({ boundary, chain: link });
  }
  if (links.length === 0) return undefined;
  const found = await store.find({ tenant, configuration, links });
  // The very same record as before stays the very same value, and what was worked out from it stays known.
  if (found !== undefined && found.chain === known?.chain && found.boundary === known.boundary) return known;
  return found !== undefined && isTrueOf(found, options) ? found : undefined;
}

/** Whether a checkpoint speaks of this very conversation. Nobody is trusted to have looked. */
export function isTrueOf(
  checkpoint: Checkpoint,
  { tenant, configuration, chain, cuts }: Omit<FindOptions, 'known'>,
): boolean {
  return (
    checkpoint.tenant === tenant &&
    checkpoint.configuration === configuration &&
    checkpoint.boundary > 0 &&
    chain.links[checkpoint.boundary] === checkpoint.chain &&
    cuts.includes(checkpoint.boundary)
  );
}
