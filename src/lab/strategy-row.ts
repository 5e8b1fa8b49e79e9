import { runCompaction } from '../compaction/engine.ts';
import { createEngine } from '../compaction/options.ts';
import { changeOf, type Outcome, type Strategy } from '../compaction/plan/strategy.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { Row } from './row.ts';
import type { Cut } from './trajectory.ts';

export interface StrategyRowOptions {
  /** Default: the strategy's own name. */
  readonly name?: string | undefined;
  /** One for all cuts, or one for each. */
  readonly summarizer: Summarizer | ((cut: Cut) => Summarizer);
  readonly estimator?: TokenEstimator | undefined;
}

/**
 * A strategy as a row, through the same engine as every other run. The budget is for the messages, so instructions and
 * tools come on top of its target.
 */
export function strategyRow(strategy: Strategy, options: StrategyRowOptions): Row {
  const { name = strategy.name, summarizer, estimator = createTokenEstimator() } = options;
  const attempt = async (cut: Cut, budgetTokens: number): Promise<Outcome> => {
    const { prefix, prefixTokens } = cut;
    const tokens = requestTokens(prefix, estimator);
    const engine = createEngine({
      windowTokens: 0,
      strategy,
      summarizer: typeof summarizer === 'function' ? summarizer(cut) : summarizer,
    });
    const turn = { conversation: prefix, tokens, idleSeconds: undefined, signal: undefined };
    const targetTokens = Math.floor(budgetTokens + tokens - prefixTokens);
    const order = { trigger: 'auto', targetTokens } as const;
    return (await runCompaction({ ...engine, estimator }, turn, order)).outcome;
  };
  return {
    name,
    attempt,
    async compact(cut, budgetTokens) {
      const change = changeOf(await attempt(cut, budgetTokens));
      return change === undefined ? cut.prefix.messages : change.conversation.messages;
    },
  };
}
