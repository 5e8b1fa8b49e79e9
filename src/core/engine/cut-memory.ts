import { legalCuts } from '../legality.ts';
import { hasToolResult, type Message } from '../message.ts';
import { rememberFold } from '../prefix-memory.ts';
import { messageOf, ToolLinker } from '../tool-links.ts';

interface Bonds {
  /** Depth of bonds over each index, as differences. */
  readonly change: number[];
  readonly linker: ToolLinker;
  /** Whether a result was seen without its call, or a call under an id that was still open. */
  isOdd: boolean;
  last: Message | undefined;
  lastResponse: { readonly id: string; readonly index: number } | undefined;
}

/**
 * What `legalCuts` finds, for lists that grow: the next turn costs what is new in it. A list with calls or results that
 * have no other half is looked at as a whole.
 */
export function rememberedCuts(messages: readonly Message[]): readonly number[] {
  const { change, linker, isOdd } = foldBonds(messages);
  if (isOdd || linker.open().length > 0) return legalCuts(messages);
  const cuts: number[] = [];
  let depth = 0;
  for (let index = 0; index <= messages.length; index++) {
    depth += change[index] ?? 0;
    if (depth === 0) cuts.push(index);
  }
  return cuts;
}

const foldBonds = rememberFold<Message, Bonds>({
  start() {
    const change: number[] = [0];
    const bonds: Bonds = {
      change,
      linker: new ToolLinker({
        pair: (call, result) => bind(change, messageOf(call), messageOf(result) + 1),
        unanswered: () => {
          bonds.isOdd = true;
        },
        orphan: () => {
          bonds.isOdd = true;
        },
      }),
      isOdd: false,
      last: undefined,
      lastResponse: undefined,
    };
    return bonds;
  },

  add(bonds, message, index) {
    const { change, last } = bonds;
    while (change.length < index + 2) change.push(0);
    bonds.linker.add(message, index);
    if (index > 0 && hasToolResult(message)) bind(change, index - 1, index + 1);
    if (message.role === 'assistant') bindResponse(bonds, message, index);
    if (last !== undefined && isOneBatch(last, message)) bind(change, index - 1, index + 1);
    if (message.blocks.some(({ type }) => type === 'compaction')) bind(change, 0, index + 1);
    bonds.last = message;
  },
});

/** Nothing between `start` and `end` may be cut. */
function bind(change: number[], start: number, end: number): void {
  if (end - start < 2) return;
  change[start + 1] = (change[start + 1] ?? 0) + 1;
  change[end] = (change[end] ?? 0) - 1;
}

function bindResponse(bonds: Bonds, { responseId: id }: Message, index: number): void {
  const { lastResponse } = bonds;
  if (id !== undefined && lastResponse?.id === id) bind(bonds.change, lastResponse.index, index + 1);
  bonds.lastResponse = id === undefined ? undefined : { id, index };
}

function isOneBatch(before: Message, after: Message): boolean {
  if (before.role !== 'assistant' || after.role !== 'assistant') return false;
  if (before.responseId !== undefined && after.responseId !== undefined) return false;
  return isUnfinished(before) || isUnfinished(after);
}

function isUnfinished({ blocks }: Message): boolean {
  return blocks.some(({ type }) => type === 'reasoning' || type === 'tool-call');
}
