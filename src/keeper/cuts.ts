import type { Chain } from '../conversation/chain.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Checkpoint } from '../stores/store.ts';
import { rememberedCuts } from './cut-memory.ts';
import { isCutBehindWhole } from './whole-list.ts';

/** Where a conversation may be cut, in the coordinates of its chain. Worked out when it is asked for, and as far. */
export interface Cuts {
  /** Every boundary, ascending. */
  all(): readonly number[];
  /** Whether the boundary of a checkpoint that is true of the conversation is one of them. */
  has(checkpoint: Pick<Checkpoint, 'boundary' | 'isWhole'>): boolean;
}

/** The cuts of a conversation, less those right behind a call whose answer may still come. */
export function cutsOf({ messages }: Pick<Conversation, 'messages'>, { head }: Pick<Chain, 'head'>): Cuts {
  const isHeadPlain = messages.slice(0, head).every(hasNoTools);
  const proven = new Set<number>();
  let known: readonly number[] | undefined;

  const all = () => {
    known ??= rememberedCuts(messages).flatMap((cut) => (cut > head ? [cut - head] : []));
    return known;
  };
  /** Turn after turn nearly all of a conversation stands before its checkpoint, where nothing has changed. */
  const isProven = (boundary: number) => {
    if (proven.has(boundary)) return true;
    if (boundary > messages.length - head || !isCutBehindWhole(messages, head + boundary)) return false;
    proven.add(boundary);
    return true;
  };

  return {
    all,
    has: ({ boundary, isWhole }) =>
      (isWhole === true && isHeadPlain && isProven(boundary)) || all().includes(boundary),
  };
}

/** System messages in front may be others than when the checkpoint was made. */
function hasNoTools({ blocks }: Message): boolean {
  return blocks.every(({ type }) => type !== 'tool-call' && type !== 'tool-result');
}
