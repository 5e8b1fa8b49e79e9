import type { Span } from '../../conversation/cuts.ts';
import { RoundfoldError } from '../../conversation/errors.ts';
import type { Message } from '../../conversation/message.ts';
import { choice, integer } from '../../conversation/options.ts';
import { requestTokens } from '../../tokens/measure.ts';
import { dropOldest } from '../plan/layout.ts';
import { defineStrategy, finish, judgeTarget, notCompacted } from '../plan/strategy.ts';

/** Drops the oldest rounds until the request fits a budget of tokens or bytes. */
export const tokenBudget = defineStrategy({
  name: 'token-budget',
  summary: 'drop the oldest rounds until the request fits a budget',
  options: {
    budget: integer({ default: 0, help: 'what the request may have at most; 0 takes the target of the run' }),
    unit: choice({ default: 'tokens', choices: ['tokens', 'bytes'], help: 'what the budget counts' }),
  },

  create: ({ budget, unit }) => {
    if (unit === 'bytes' && budget === 0) {
      throw new RoundfoldError(
        'usage',
        'token-budget: a budget in bytes is needed, since targets are in tokens',
        {
          remedy: 'Set the option budget as well.',
        },
      );
    }
    return {
      name: 'token-budget',
      async compact(conversation, context) {
        const { messages } = conversation;
        const sizeOf =
          unit === 'bytes' ? bytesOf : (message: Message) => context.estimator.countMessage(message);
        const limit = budget > 0 ? budget : context.targetTokens;
        const whole =
          unit === 'bytes' ? sum(messages, bytesOf) : requestTokens(conversation, context.estimator);
        if (whole <= limit)
          return notCompacted('skipped', 'below-target', `${Math.round(whole)} ${unit}, within ${limit}`);

        let freed = 0;
        let counted = 0;
        const isEnough = (dropped: readonly Span[]) => {
          for (; counted < dropped.length; counted++) {
            const span = dropped[counted];
            if (span !== undefined) freed += sum(messages.slice(span.start, span.end), sizeOf);
          }
          return whole - freed <= limit;
        };
        const edits = dropOldest(conversation, context.pins, { limit: messages.length, isEnough });
        if (edits.length === 0) {
          return notCompacted('insufficient', 'floor-exceeds-target', floorMessage(whole, limit, unit));
        }
        const left = edits.flatMap((edit) =>
          edit.type === 'drop' ? messages.slice(edit.start, edit.end) : [],
        );
        const outcome = finish(conversation, edits, context, {
          strategy: 'token-budget',
          reason: `dropped ${Math.round(sum(left, sizeOf))} of ${Math.round(whole)} ${unit}`,
        });
        const target = unit === 'bytes' ? Number.POSITIVE_INFINITY : limit;
        return judgeTarget(
          outcome,
          target,
          'what is pinned, the instructions, the tools and the current turn',
        );
      },
    };
  },
});

function floorMessage(whole: number, limit: number, unit: string): string {
  return `${Math.round(whole)} ${unit} are left when all that may go has gone, more than ${limit}: what is pinned, the instructions, the tools and the current turn take that much`;
}

function bytesOf({ raw }: Message): number {
  return new TextEncoder().encode(JSON.stringify(raw) ?? '').length;
}

function sum(messages: readonly Message[], sizeOf: (message: Message) => number): number {
  return messages.reduce((total, message) => total + sizeOf(message), 0);
}
