import { addUsage } from '../core/add-usage.ts';
import type { Edit } from '../core/edit.ts';
import type { Conversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import { integer } from '../core/options.ts';
import { relabel, requestTokens } from '../core/receipt.ts';
import {
  type Compacted,
  defineStrategy,
  finishPlan,
  type NotCompacted,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../core/strategy.ts';
import type { Survival } from '../core/survival.ts';

/**
 * Climbs from rung to rung until the target is met. There are several ladders to climb, each from the ground: a summary
 * is made of what was said, and not of what a cheaper rung has left of it. The strategies come in, since they do not
 * know each other.
 */
export function defineLadder(
  laddersOf: (values: { readonly keepRecent: number }) => readonly (readonly Strategy[])[],
) {
  return defineStrategy({
    name: 'ladder',
    summary: 'the cheap and local means first, a summary last, until the target is met',
    options: {
      keepRecent: integer({ default: 20_000, help: 'tokens of the newest rounds to keep when summarising' }),
    },
    create(values) {
      const ladders = laddersOf(values);
      return { name: 'ladder', compact: (conversation, context) => climbAll(conversation, context, ladders) };
    },
  });
}

/** How far a climb has come. */
interface Climb {
  current: Conversation;
  tokens: number;
  usage: Usage | undefined;
  readonly steps: (readonly Edit[])[];
  readonly climbed: string[];
  survival: readonly Survival[] | undefined;
  /** The outcome of the one rung that did something, which is that of the whole ladder too. */
  only: Compacted | undefined;
  refusal: NotCompacted | undefined;
}

async function climbAll(
  conversation: Conversation,
  context: StrategyContext,
  ladders: readonly (readonly Strategy[])[],
): Promise<Outcome> {
  const tokens = requestTokens(conversation, context.estimator);
  if (tokens <= context.targetTokens)
    return notCompacted('skipped', 'below-target', 'the request is within its target');
  let best: Climb | undefined;
  let usage: Usage | undefined;
  let refusal: NotCompacted | undefined;
  for (const rungs of ladders) {
    const climb = await climbOne(conversation, context, rungs);
    usage = addUsage(usage, climb.usage);
    refusal = climb.refusal ?? refusal;
    if (best === undefined || climb.tokens < best.tokens) best = climb;
    if (best.tokens <= context.targetTokens) break;
  }
  if (best !== undefined && best.steps.length > 0) {
    const { steps, climbed, survival, only } = best;
    if (only !== undefined)
      return { ...only, reason: climbed.join(', '), receipt: relabel(only.receipt, 'ladder'), usage };
    const reason = climbed.join(', ');
    return finishPlan(conversation, { steps }, context, { strategy: 'ladder', reason, usage, survival });
  }
  if (refusal !== undefined) return { ...refusal, usage };
  const message = 'nothing in this conversation may be made smaller';
  return notCompacted('insufficient', 'nothing-to-do', message, usage);
}

async function climbOne(
  conversation: Conversation,
  context: StrategyContext,
  rungs: readonly Strategy[],
): Promise<Climb> {
  const climb: Climb = {
    current: conversation,
    tokens: requestTokens(conversation, context.estimator),
    usage: undefined,
    steps: [],
    climbed: [],
    survival: undefined,
    only: undefined,
    refusal: undefined,
  };
  for (const rung of rungs) {
    if (climb.tokens <= context.targetTokens) break;
    takeRung(climb, rung, await rung.compact(climb.current, context), context);
  }
  return climb;
}

function takeRung(climb: Climb, rung: Strategy, outcome: Outcome, { estimator }: StrategyContext): void {
  climb.usage = addUsage(climb.usage, outcome.usage);
  if (outcome.status !== 'compacted') {
    if (outcome.status !== 'skipped') climb.refusal ??= outcome;
    return;
  }
  const tokens = requestTokens(outcome.conversation, estimator);
  if (tokens >= climb.tokens) return;
  climb.tokens = tokens;
  climb.current = outcome.conversation;
  climb.only = climb.steps.length === 0 ? outcome : undefined;
  climb.steps.push(...outcome.plan.steps);
  climb.climbed.push(rung.name);
  climb.survival = outcome.receipt.survival ?? climb.survival;
}
