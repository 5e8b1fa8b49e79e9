/** The ledger: what a conversation has cost, and what it would have cost without compactions. */

import { isCacheExpired, type PriceSet, requestCost } from './costs.ts';

/**
 * What a conversation has cost, and what it would have cost without any compaction: the difference is what compactions
 * may cost. Plain data: store it with the conversation.
 */
export interface CostLedger {
  readonly version: 1;
  /** Of the requests that were sent, and of summary calls, in USD. */
  readonly actualCost: number;
  /** Of the same requests without any compaction, in USD. */
  readonly noneCost: number;
  /** Size of the last prompt, and what it would have been. */
  readonly actualTokens: number;
  readonly noneTokens: number;
}

/** The ledger of a conversation that has not begun. */
export const emptyLedger: CostLedger = {
  version: 1,
  actualCost: 0,
  noneCost: 0,
  actualTokens: 0,
  noneTokens: 0,
};

/** A request that is sent. */
export interface LedgerTurn {
  readonly prices: PriceSet;
  /** Its prompt as sent. */
  readonly promptTokens: number;
  /** Seconds since the request before it. */
  readonly idleSeconds: number;
  /** Default 0. */
  readonly outputTokens?: number | undefined;
  /** Most that a prompt may have; 0 or undefined when there is no limit. */
  readonly limitTokens?: number | undefined;
  /** The compaction right before this request, if there was one. */
  readonly compaction?: LedgerCompaction | undefined;
}

export interface LedgerCompaction {
  readonly removedTokens: number;
  /** Head of the prompt that was still cached. */
  readonly reusableTokens: number;
  /** Of the summary call, in USD. Default 0. */
  readonly summaryCost?: number | undefined;
}

/**
 * The ledger after a request. Without compactions, a conversation is taken to go on in the same way with the same
 * answers. Where it would not have fitted its limit any more, there is nothing to compare with: from then on the
 * comparison is with the conversation as it is, and what was saved until then stays saved.
 */
export function settleTurn(ledger: CostLedger, turn: LedgerTurn): CostLedger {
  const { prices, promptTokens, outputTokens, compaction, limitTokens = 0 } = turn;
  const isExpired = isCacheExpired(prices, turn.idleSeconds);
  const newTokens = promptTokens + (compaction?.removedTokens ?? 0) - ledger.actualTokens;
  const cachedTokens = Math.min(ledger.actualTokens, compaction?.reusableTokens ?? ledger.actualTokens);
  const cost = requestCost(prices, {
    promptTokens,
    cachedTokens: isExpired ? 0 : cachedTokens,
    outputTokens,
  });
  const actualCost = ledger.actualCost + cost + (compaction?.summaryCost ?? 0);
  const noneTokens = ledger.noneTokens + newTokens;
  if (limitTokens > 0 && noneTokens > limitTokens) {
    const noneCost = ledger.noneCost + (actualCost - ledger.actualCost);
    return { version: 1, actualCost, noneCost, actualTokens: promptTokens, noneTokens: promptTokens };
  }
  const without = {
    promptTokens: noneTokens,
    cachedTokens: isExpired ? 0 : ledger.noneTokens,
    outputTokens,
  };
  const noneCost = ledger.noneCost + requestCost(prices, without);
  return { version: 1, actualCost, noneCost, actualTokens: promptTokens, noneTokens };
}

/** What compactions have saved so far, in USD; negative when they have cost more. */
export function savedSoFar({ actualCost, noneCost }: CostLedger): number {
  return noneCost - actualCost;
}
