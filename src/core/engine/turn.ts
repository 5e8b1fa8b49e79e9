import type { Chain, Chains } from '../chain.ts';
import type { Conversation } from '../format.ts';
import type { Usage } from '../message.ts';
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
    if (cut > chain.head) cuts.push(cut - chain.head);
  }
  return { ...rest, conversation, chain, cuts };
}
