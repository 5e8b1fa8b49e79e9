import type { Chain, Chains } from '../conversation/chain.ts';
import type { Conversation } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import { type Cuts, cutsOf } from './cuts.ts';

/** One request of a conversation, and what it takes to find what was made of it. */
export interface KeeperTurn {
  readonly tenant: string;
  readonly configuration: string;
  readonly conversation: Conversation;
  readonly chain: Chain;
  /** Where it may be cut. */
  readonly cuts: Cuts;
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
  return { ...rest, conversation, chain, cuts: cutsOf(conversation, chain) };
}
