/** The last resort when a request does not fit its window: a list of what was done, dropped rounds, shortened results. */

import type { Conversation } from '../conversation/format.ts';
import { requestTokens } from '../tokens/measure.ts';
import { rescuedTokens, shouldContextCollapse } from '../tokens/thresholds.ts';
import type { Engine, RunTurn } from './options.ts';
import { markerText, type RetryTruncation, truncateHeadForRetry } from './overflow/truncation.ts';
import type { Plan } from './plan/plan.ts';
import {
  changeOf,
  finishPlan,
  judgeTarget,
  type Outcome,
  refuseIllegal,
  type StrategyContext,
} from './plan/strategy.ts';
import { collapse as collapseStrategy } from './strategies/collapse.ts';

/** How often rounds are dropped or results shortened for one request; each try also removes what the last one left over. */
const TRIES = 8;

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
  const sizes = sizesOf(engine, turn);
  const isOff = outcome.status === 'skipped' && outcome.reason === 'off';
  if (isOff || !sizes.isFull(changeOf(outcome)?.conversation ?? conversation)) return outcome;

  const collapsed = await collapse(engine, conversation, { outcome, context });
  const shortened = leaveOut(engine, collapsed.current, sizes);
  const steps = [...collapsed.steps, ...(shortened?.plan.steps ?? [])];
  if (steps.length === 0) return outcome;
  const rescued = finishPlan(conversation, { steps }, context, {
    strategy: engine.strategy.name,
    reason: 'emergency: the window was full',
    usage: outcome.usage,
  });
  const legal = await refuseIllegal(conversation, rescued);
  const isSmaller = rescued.receipt.tokensAfter < rescued.receipt.tokensBefore;
  return isSmaller && legal.status === 'compacted'
    ? judgeTarget(legal, context.targetTokens, 'what no emergency may take out')
    : outcome;
}

/** The window is in the provider's tokens, messages are counted in estimated ones. */
interface Sizes {
  /** Tokens of the provider's in an estimated one. */
  readonly scale: number;
  /** A whole request, in the provider's tokens. */
  tokensOf(conversation: Conversation): number;
  /** Whether only an emergency helps any more. */
  isFull(conversation: Conversation): boolean;
}

function sizesOf({ estimator, thresholds }: Engine, { conversation, tokens }: RunTurn): Sizes {
  const scale = tokens / Math.max(1, requestTokens(conversation, estimator));
  const tokensOf = (left: Conversation) => requestTokens(left, estimator) * scale;
  return {
    scale,
    tokensOf,
    isFull: (left) => shouldContextCollapse(tokensOf(left), thresholds.windowTokens),
  };
}

/**
 * Leaves out rounds and shortens results until the request fits, or is as small as it can be. Every try begins with all
 * that there is: whether results of the current turn are shortened or pinned messages leave is decided once, and going on
 * from a turn that was shortened in vain would take both.
 */
function leaveOut(
  { estimator, thresholds, pins, bindsReasoning }: Engine,
  whole: Conversation,
  { scale, tokensOf, isFull }: Sizes,
): RetryTruncation | undefined {
  const fittingTokens = rescuedTokens(thresholds.windowTokens);
  const actualTokens = tokensOf(whole);
  // A marker comes in where rounds leave, and needs room too.
  const marker = estimator.profile.perMessageTokens + estimator.countText(markerText(whole.messages.length));
  let excessTokens = actualTokens + marker * scale - fittingTokens;
  let smallest: RetryTruncation | undefined;
  for (let attempt = 1; attempt <= TRIES && isFull(smallest?.conversation ?? whole); attempt++) {
    const shorter = truncateHeadForRetry(whole, {
      estimator,
      overflow: { kind: 'prompt-too-long', actualTokens, excessTokens },
      attempt,
      // The estimate is scaled to the provider's count, and there is another try.
      marginFraction: 0,
      pins,
      bindsReasoning,
    });
    if (shorter === null) break;
    const tokens = tokensOf(shorter.conversation);
    // More was asked for than the time before: there is no more.
    if (tokens >= tokensOf(smallest?.conversation ?? whole)) break;
    smallest = shorter;
    excessTokens += tokens - fittingTokens;
  }
  return smallest;
}

const emergency = collapseStrategy();

/** The smaller of what the strategy made and what the emergency makes. */
async function collapse(
  { estimator }: Engine,
  conversation: Conversation,
  { outcome, context }: { readonly outcome: Outcome; readonly context: StrategyContext },
): Promise<{ readonly steps: Plan['steps']; readonly current: Conversation }> {
  const made = changeOf(outcome);
  const collapsed = changeOf(
    await refuseIllegal(
      conversation,
      await emergency.compact(conversation, { ...context, trigger: 'overflow' }),
    ),
  );
  const sizeOf = (change: typeof made) =>
    change === undefined ? Number.POSITIVE_INFINITY : requestTokens(change.conversation, estimator);
  const smaller = sizeOf(collapsed) < sizeOf(made) ? collapsed : made;
  return { steps: smaller?.plan.steps ?? [], current: smaller?.conversation ?? conversation };
}
