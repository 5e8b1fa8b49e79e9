import type { CompactorOptions, Engine } from '../compaction/options.ts';
import type { Hash } from '../conversation/chain.ts';
import type { Format } from '../conversation/format.ts';

interface Shaping extends Pick<CompactorOptions, 'options'> {
  readonly hash: Hash;
  readonly configuration?: string | undefined;
}

/** Names what shapes a checkpoint: with anything else it would be another one. How large the window is does not count. */
export function fingerprint(
  { hash, options = {}, configuration }: Shaping,
  { strategy, summarizer, pins, bindsReasoning }: Engine,
): (format: Format) => string {
  const ordered = Object.entries(options).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const shape = {
    strategy: strategy.name,
    options: ordered,
    summarizer: summarizer.name,
    pins: (pins.patterns ?? []).map(String),
    bindsReasoning,
    configuration,
  };
  const names = new Map<string, string>();
  return ({ name }) => {
    const known = names.get(name) ?? hash(JSON.stringify({ format: name, ...shape }));
    names.set(name, known);
    return known;
  };
}
