import { shouldContextCollapse } from '../core/budget.ts';
import type { Reduced } from '../core/engine/ports.ts';
import type { Conversation } from '../core/format.ts';
import { type Receipt, requestTokens } from '../core/receipt.ts';
import { truncateHeadForRetry } from '../core/retry-truncation.ts';
import { createContext, type Engine } from './compaction-run.ts';

/** Times that rounds are dropped for one request: each time what is left over, and more. */
const TRIES = 8;

/**
 * A request that fits, for this once: what the emergency makes of it, and if that is not enough, without its oldest
 * rounds. What nobody may take out stays, even if it does not fit. No model is asked.
 */
export async function reduceView(engine: Engine, view: Conversation, tokens: number): Promise<Reduced> {
  const { estimator, thresholds, emergency, strategy } = engine;
  const { windowTokens, targetTokens } = thresholds;
  // Off means off, also in an emergency.
  if (strategy.name === 'none') return { conversation: view, tokens, receipts: [] };
  // The window is in the provider's tokens, rounds are counted in estimated ones.
  const scale = tokens / Math.max(1, requestTokens(view, estimator));
  const turn = { conversation: view, tokens, idleSeconds: undefined, signal: undefined };
  const context = createContext(engine, turn, { trigger: 'overflow', targetTokens });
  const collapsed = await emergency.compact(view, context);
  const receipts: Receipt[] = [];
  let conversation = view;
  if (collapsed.status === 'compacted') {
    conversation = collapsed.conversation;
    receipts.push(collapsed.receipt);
  }
  let left = requestTokens(conversation, estimator) * scale;
  for (let attempt = 1; attempt <= TRIES && shouldContextCollapse(left, windowTokens); attempt++) {
    const shorter = truncateHeadForRetry(conversation, {
      estimator,
      overflow: { kind: 'prompt-too-long', actualTokens: left, excessTokens: left - windowTokens * 0.95 },
      attempt,
      pins: engine.pins,
      bindsReasoning: engine.bindsReasoning,
    });
    if (shorter === null) break;
    conversation = shorter.conversation;
    receipts.push(shorter.receipt);
    left = requestTokens(conversation, estimator) * scale;
  }
  return { conversation, tokens: Math.round(left), receipts };
}
