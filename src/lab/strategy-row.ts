import { requestTokens } from '../core/receipt.ts';
import type { Outcome, Strategy } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { createTokenEstimator, type TokenEstimator } from '../core/token-estimator.ts';
import type { Row } from './row.ts';
import type { Cut } from './trajectory.ts';

export interface StrategyRowOptions {
  /** Default: the strategy's own name. */
  readonly name?: string | undefined;
  /** One for all cuts, or one for each. */
  readonly summarizer: Summarizer | ((cut: Cut) => Summarizer);
  readonly estimator?: TokenEstimator | undefined;
}

/** A strategy as a row: the budget is for the messages, so instructions and tools come on top of its target. */
export function strategyRow(strategy: Strategy, options: StrategyRowOptions): Row {
  const { name = strategy.name, summarizer, estimator = createTokenEstimator() } = options;
  const attempt = (cut: Cut, budgetTokens: number): Promise<Outcome> => {
    const { prefix, prefixTokens } = cut;
    const framed = requestTokens(prefix, estimator) - prefixTokens;
    return strategy.compact(prefix, {
      estimator,
      targetTokens: Math.floor(budgetTokens + framed),
      trigger: 'manual',
      pins: {},
      summarizer: typeof summarizer === 'function' ? summarizer(cut) : summarizer,
      bindsReasoning: false,
      signal: undefined,
    });
  };
  return {
    name,
    attempt,
    async compact(cut, budgetTokens) {
      const outcome = await attempt(cut, budgetTokens);
      return outcome.status === 'compacted' ? outcome.conversation.messages : cut.prefix.messages;
    },
  };
}
