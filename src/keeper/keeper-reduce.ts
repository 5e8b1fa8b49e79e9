import { rescue } from '../compaction/emergency.ts';
import { createContext } from '../compaction/engine.ts';
import type { Engine } from '../compaction/options.ts';
import { changeOf, notCompacted } from '../compaction/plan/strategy.ts';
import type { Conversation } from '../conversation/format.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { Reduced } from './ports.ts';

/** A request that fits, for this once: what an emergency makes of it. Nothing of it is stored. No model is asked. */
export async function reduceView(engine: Engine, view: Conversation, tokens: number): Promise<Reduced> {
  const turn = { conversation: view, tokens, idleSeconds: undefined, signal: undefined };
  const context = createContext(engine, turn, { trigger: 'overflow', isSummarizerPaused: true });
  // Off means off, also in an emergency.
  const reason = engine.strategy.name === 'none' ? 'off' : 'not-tried';
  const outcome = await rescue(engine, turn, { outcome: notCompacted('skipped', reason, ''), context });
  const change = changeOf(outcome);
  if (change === undefined) return { conversation: view, tokens, receipts: [] };
  const scale = tokens / Math.max(1, requestTokens(view, engine.estimator));
  const { conversation, receipt } = change;
  return {
    conversation,
    tokens: Math.round(requestTokens(conversation, engine.estimator) * scale),
    receipts: [receipt],
  };
}
