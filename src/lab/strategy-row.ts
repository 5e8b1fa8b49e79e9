import { requestTokens } from '../core/receipt.ts';
import type { Strategy } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { createTokenEstimator, type TokenEstimator } from '../core/token-estimator.ts';
import type { Row } from './row.ts';

export interface StrategyRowOptions {
  /** Default: the strategy's own name. */
  readonly name?: string | undefined;
  readonly summarizer: Summarizer;
  readonly estimator?: TokenEstimator | undefined;
}

/** A strategy as a row: the budget is for the messages, so instructions and tools come on top of its target. */
export function strategyRow(strategy: Strategy, options: StrategyRowOptions): Row {
  const { name = strategy.name, summarizer, estimator = createTokenEstimator() } = options;
  return {
    name,
    async compact({ prefix, prefixTokens }, budgetTokens) {
      const framed = requestTokens(prefix, estimator) - prefixTokens;
      const outcome = await strategy.compact(prefix, {
        estimator,
        targetTokens: Math.floor(budgetTokens + framed),
        trigger: 'manual',
        pins: {},
        summarizer,
        bindsReasoning: false,
        signal: undefined,
      });
      return outcome.status === 'compacted' ? outcome.conversation.messages : prefix.messages;
    },
  };
}
