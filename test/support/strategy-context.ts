import { strategyContext as plainContext, type StrategyContext } from '../../src/compaction/plan/strategy.ts';
import type { Summarizer } from '../../src/memory/summary-request.ts';

/** A summarizer that says how many messages it was shown, and nothing else. */
export const countingSummarizer: Summarizer = {
  name: 'counting',
  asksModel: false,
  summarize: async ({ messages }) => ({
    status: 'summarized',
    text: `${messages.length} messages`,
    usage: undefined,
  }),
};

/** A context for one run; everything that is not given has a plain value. */
export function strategyContext(given: Partial<StrategyContext> = {}): StrategyContext {
  return plainContext({
    targetTokens: 1000,
    summarizer: countingSummarizer,
    ownSummarizer: countingSummarizer,
    ...given,
  });
}
