import type { Chain, Chains } from '../chain.ts';
import type { Conversation } from '../format.ts';
import { hasToolCall, type Usage } from '../message.ts';
import { rememberedCuts } from './cut-memory.ts';

/** One request of a conversation, and what it takes to find what was made of it. */
export interface KeeperTurn {
  readonly tenant: string;
  readonly configuration: string;
  readonly conversation: Conversation;
  readonly chain: Chain;
  /** Boundaries at which it may be cut, ascending; in the coordinates of the chain. */
  readonly cuts: readonly number[];
  readonly usage: Usage | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads a request. */
export function readTurn(
  conversation: Conversation,
  chains: Chains,
  rest: Pick<KeeperTurn, 'tenant' | 'configuration' | 'usage' | 'signal'>,
): KeeperTurn {
  const chain = chains.chainOf(conversation);
  const cuts: number[] = [];
  for (const cut of rememberedCuts(conversation.messages)) {
    const before = conversation.messages[cut - 1];
    // The answer to a call may still come, and then it is cut off from it.
    if (cut > chain.head && before !== undefined && !hasToolCall(before)) cuts.push(cut - chain.head);
  }
  return { ...rest, conversation, chain, cuts };
}
