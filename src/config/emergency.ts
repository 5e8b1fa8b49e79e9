import { shouldContextCollapse } from '../core/budget.ts';
import type { Edit } from '../core/edit.ts';
import type { Conversation } from '../core/format.ts';
import { requestTokens } from '../core/receipt.ts';
import { truncateHeadForRetry } from '../core/retry-truncation.ts';
import { changeOf, finishPlan, judgeTarget, type Outcome, type StrategyContext } from '../core/strategy.ts';
import { refuseIllegal } from './legal-output.ts';
import type { Engine, RunTurn } from './run-turn.ts';

/** Times that rounds are dropped or results shortened for one request: each time what is left over, and more. */
const TRIES = 8;
/** Share of the window that such a request may have: just below where it would be an emergency again. */
const FITTING_FRACTION = 0.975;

/**
 * Makes a request fit whose window is as good as full after the strategy has done what it could: keeps a list of what was
 * done instead of a summary, then leaves out the oldest rounds and shortens the largest results, at last those of the
 * current turn. Off means off here too. What still does not fit is sent as small as it can be.
 */
export async function rescue(
  engine: Engine,
  turn: RunTurn,
  { outcome, context }: { readonly outcome: Outcome; readonly context: StrategyContext },
): Promise<Outcome> {
  const { conversation } = turn;
  const { windowTokens } = engine.thresholds;
  // The window is in the provider's tokens, messages are counted in estimated ones.
  const scale = turn.tokens / Math.max(1, requestTokens(conversation, engine.estimator));
  const isFull = (left: Conversation) =>
    shouldContextCollapse(requestTokens(left, engine.estimator) * scale, windowTokens);
  const isOff = outcome.status === 'skipped' && outcome.reason === 'off';
  if (isOff || !isFull(changeOf(outcome)?.conversation ?? conversation)) return outcome;

  const { steps, current } = await collapse(engine, conversation, { outcome, context });
  let shortened = current;
  for (let attempt = 1; attempt <= TRIES && isFull(shortened); attempt++) {
    const left = requestTokens(shortened, engine.estimator) * scale;
    const shorter = truncateHeadForRetry(shortened, {
      estimator: engine.estimator,
      overflow: {
        kind: 'prompt-too-long',
        actualTokens: left,
        excessTokens: left - windowTokens * FITTING_FRACTION,
      },
      attempt,
      // The estimate is scaled to the provider's count, and there is another try.
      marginFraction: 0,
      pins: engine.pins,
      bindsReasoning: engine.bindsReasoning,
    });
    if (shorter === null) break;
    steps.push(...shorter.plan.steps);
    shortened = shorter.conversation;
  }
  if (steps.length === 0) return outcome;
  const rescued = finishPlan(conversation, { steps }, context, {
    strategy: engine.strategy.name,
    reason: 'emergency: the window was full',
    usage: outcome.usage,
  });
  const legal = refuseIllegal(conversation, rescued);
  const isSmaller = rescued.receipt.tokensAfter < rescued.receipt.tokensBefore;
  return isSmaller && legal.status === 'compacted'
    ? judgeTarget(legal, context.targetTokens, 'what no emergency may take out')
    : outcome;
}

/** The smaller of what the strategy made and what the emergency makes. */
async function collapse(
  { emergency, estimator }: Engine,
  conversation: Conversation,
  { outcome, context }: { readonly outcome: Outcome; readonly context: StrategyContext },
): Promise<{ readonly steps: (readonly Edit[])[]; readonly current: Conversation }> {
  const made = changeOf(outcome);
  const collapsed = changeOf(
    refuseIllegal(conversation, await emergency.compact(conversation, { ...context, trigger: 'overflow' })),
  );
  const sizeOf = (change: typeof made) =>
    change === undefined ? Number.POSITIVE_INFINITY : requestTokens(change.conversation, estimator);
  const smaller = sizeOf(collapsed) < sizeOf(made) ? collapsed : made;
  return { steps: [...(smaller?.plan.steps ?? [])], current: smaller?.conversation ?? conversation };
}
