import { addUsage } from '../core/add-usage.ts';
import type { Edit } from '../core/edit.ts';
import type { Conversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import { integer } from '../core/options.ts';
import { requestTokens } from '../core/receipt.ts';
import {
  defineStrategy,
  finishPlan,
  type NotCompacted,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../core/strategy.ts';

/** Climbs from rung to rung until the target is met. The rungs come in, since strategies do not know each other. */
export function defineLadder(rungsOf: (values: { readonly keepRecent: number }) => readonly Strategy[]) {
  return defineStrategy({
    name: 'ladder',
    summary: 'the cheap and local means first, a summary last, until the target is met',
    options: {
      keepRecent: integer({ default: 20_000, help: 'tokens of the newest rounds to keep when summarising' }),
    },
    create: (values) => ({
      name: 'ladder',
      compact: (conversation, context) => climb(conversation, context, rungsOf(values)),
    }),
  });
}

/** How far a climb has come. */
interface Climb {
  current: Conversation;
  usage: Usage | undefined;
  readonly steps: (readonly Edit[])[];
  readonly climbed: string[];
  refusal: NotCompacted | undefined;
}

async function climb(
  conversation: Conversation,
  context: StrategyContext,
  rungs: readonly Strategy[],
): Promise<Outcome> {
  const state: Climb = {
    current: conversation,
    usage: undefined,
    steps: [],
    climbed: [],
    refusal: undefined,
  };
  for (const rung of rungs) {
    if (requestTokens(state.current, context.estimator) <= context.targetTokens) break;
    takeRung(state, rung, await rung.compact(state.current, context), context);
  }
  const { steps, climbed, usage, refusal } = state;
  if (steps.length > 0) {
    return finishPlan(conversation, { steps }, context, {
      strategy: 'ladder',
      reason: climbed.join(', '),
      usage,
    });
  }
  if (refusal !== undefined) return { ...refusal, usage };
  return requestTokens(conversation, context.estimator) <= context.targetTokens
    ? notCompacted('skipped', 'below-target', 'the request is within its target', usage)
    : notCompacted(
        'insufficient',
        'nothing-to-do',
        'nothing in this conversation may be made smaller',
        usage,
      );
}

function takeRung(state: Climb, rung: Strategy, outcome: Outcome, { estimator }: StrategyContext): void {
  state.usage = addUsage(state.usage, outcome.usage);
  if (outcome.status !== 'compacted') {
    if (outcome.status !== 'skipped') state.refusal ??= outcome;
    return;
  }
  const isSmaller = requestTokens(outcome.conversation, estimator) < requestTokens(state.current, estimator);
  if (!isSmaller) return;
  state.current = outcome.conversation;
  state.steps.push(...outcome.plan.steps);
  state.climbed.push(rung.name);
}
