import type { Reduced } from '../core/engine/ports.ts';
import type { Conversation } from '../core/format.ts';
import { requestTokens } from '../core/receipt.ts';
import { changeOf, notCompacted } from '../core/strategy.ts';
import { rescue } from './emergency.ts';
import { createContext } from './engine.ts';
import type { Engine } from './run-turn.ts';

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
