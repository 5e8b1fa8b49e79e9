import { defaultSummarizer } from '../../src/compaction/options.ts';
import { changeOf } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import { writeConversation } from '../../src/conversation/format.ts';
import { ensureToolResultPairing } from '../../src/conversation/pairing.ts';
import { findFormat } from '../../src/formats/registry.ts';
import { createTokenEstimator } from '../../src/tokens/estimator.ts';
import { requestTokens } from '../../src/tokens/measure.ts';
import { strategyContext } from '../../test/support/strategy-context.ts';
import type { ChatMessage } from './chat.ts';
import type { Cutter, Peer } from './peer.ts';

/** Reading, counting, planning, applying and writing are all inside of what is timed. */
function createCutter(strategyName: string): Cutter<readonly ChatMessage[]> {
  const strategy = createStrategy(strategyName);
  const format = findFormat('openai-chat')!;
  const estimator = createTokenEstimator();
  return {
    toNative: (messages) => messages,
    async cut(native, share) {
      const conversation = format.read(native);
      const targetTokens = Math.floor(requestTokens(conversation, estimator) * share);
      const context = strategyContext({
        estimator,
        targetTokens,
        summarizer: defaultSummarizer,
        trigger: 'auto',
      });
      const change = changeOf(await strategy.compact(conversation, context));
      const left = change?.conversation ?? conversation;
      return writeConversation(left) as readonly ChatMessage[]; // written in the shape it was read in
    },
    fromNative: (native) => native,
    // Written in the shape it was read in.
    repair: (native) =>
      writeConversation(ensureToolResultPairing(format.read(native))) as readonly ChatMessage[],
  };
}

/** This package, on the same terms: its default, and its plain cut. */
export const roundfoldPeers: readonly Peer[] = ['ladder', 'token-budget'].map((strategy) => ({
  name: `roundfold ${strategy}`,
  package: 'roundfold',
  version: '',
  keeps: 'tokens',
  use: async (_load, measure) => measure(createCutter(strategy)),
}));
