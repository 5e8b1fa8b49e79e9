import { addBond, cutsBetween } from '../conversation/bond.ts';
import { type BondWatcher, legalCuts, stepwiseProperties } from '../conversation/legality.ts';
import { hasToolCall, type Message } from '../conversation/message.ts';
import { rememberFold } from '../conversation/prefix-memory.ts';
import { messageOf, ToolLinker } from '../conversation/tool-links.ts';

interface Bonds {
  readonly depths: number[];
  readonly linker: ToolLinker;
  readonly watchers: readonly BondWatcher[];
  /** Whether a result was seen without its call, or a call under an id that was still open. */
  isOdd: boolean;
  /** Whether a call was answered in its own message. */
  hasInnerPair: boolean;
}

/**
 * What `legalCuts` finds, less what stands right behind a call: its answer may still come, and would be cut off from it. For
 * lists that grow: the next turn costs what is new in it. A list with calls or results that have no other half is looked at
 * as a whole.
 */
export function rememberedCuts(messages: readonly Message[]): readonly number[] {
  const { depths, linker, isOdd, hasInnerPair } = foldBonds(messages);
  const isWhole = !isOdd && linker.open().length === 0;
  const cuts = isWhole ? cutsBetween(depths, messages.length) : legalCuts(messages);
  // Where every call is answered in a later message, that message is bound to it, and there is nothing to look for.
  return isWhole && !hasInnerPair ? cuts : cuts.filter((cut) => !isBehindCall(messages, cut));
}

function isBehindCall(messages: readonly Message[], cut: number): boolean {
  const before = messages[cut - 1];
  return before !== undefined && hasToolCall(before);
}

const foldBonds = rememberFold<Message, Bonds>({
  start() {
    const depths: number[] = [0];
    const bonds: Bonds = {
      depths,
      linker: new ToolLinker({
        pair: (call, result) => {
          const bond = { start: messageOf(call), end: messageOf(result) + 1 };
          if (bond.end - bond.start === 1) bonds.hasInnerPair = true;
          addBond(depths, bond);
        },
        unanswered: () => {
          bonds.isOdd = true;
        },
        orphan: () => {
          bonds.isOdd = true;
        },
      }),
      watchers: stepwiseProperties.map((property) => property.watch()),
      isOdd: false,
      hasInnerPair: false,
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
