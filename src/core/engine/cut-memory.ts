import { addBond, cutsBetween } from '../bond.ts';
import { type BondWatcher, legalCuts, stepwiseProperties } from '../legality.ts';
import type { Message } from '../message.ts';
import { rememberFold } from '../prefix-memory.ts';
import { messageOf, ToolLinker } from '../tool-links.ts';

interface Bonds {
  readonly depths: number[];
  readonly linker: ToolLinker;
  readonly watchers: readonly BondWatcher[];
  /** Whether a result was seen without its call, or a call under an id that was still open. */
  isOdd: boolean;
}

/**
 * What `legalCuts` finds, for lists that grow: the next turn costs what is new in it. A list with calls or results that
 * have no other half is looked at as a whole.
 */
export function rememberedCuts(messages: readonly Message[]): readonly number[] {
  const { depths, linker, isOdd } = foldBonds(messages);
  if (isOdd || linker.open().length > 0) return legalCuts(messages);
  return cutsBetween(depths, messages.length);
}

const foldBonds = rememberFold<Message, Bonds>({
  start() {
    const depths: number[] = [0];
    const bonds: Bonds = {
      depths,
      linker: new ToolLinker({
        pair: (call, result) => addBond(depths, { start: messageOf(call), end: messageOf(result) + 1 }),
        unanswered: () => {
          bonds.isOdd = true;
        },
        orphan: () => {
          bonds.isOdd = true;
        },
      }),
      watchers: stepwiseProperties.map((property) => property.watch()),
      isOdd: false,
    };
    return bonds;
  },

  add({ depths, linker, watchers }, message, index) {
    while (depths.length < index + 2) depths.push(0);
    linker.add(message, index);
    for (const bondAt of watchers) {
      const bond = bondAt(message, index);
      if (bond !== undefined) addBond(depths, bond);
    }
  },
});
