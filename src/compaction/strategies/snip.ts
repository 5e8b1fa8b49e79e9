import { legalCuts } from '../../conversation/cuts.ts';
import type { Message } from '../../conversation/message.ts';
import { integer } from '../../conversation/options.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import { dropOldest } from '../plan/layout.ts';
import { defineStrategy, finish, notCompacted } from '../plan/strategy.ts';

/** Keeps the newest rounds, and some of the first if asked to. */
export const snip = defineStrategy({
  name: 'snip',
  summary: 'keep the newest messages or rounds and, if wanted, the first ones',
  options: {
    keepMessages: integer({ default: 0, help: 'newest messages to keep; 0: go by rounds' }),
    keepRounds: integer({ default: 10, min: 1, help: 'newest rounds to keep, where messages do not count' }),
    keepHead: integer({
      default: 0,
      help: 'messages or rounds to keep at the beginning, besides what is pinned',
    }),
  },

  create: ({ keepMessages, keepRounds, keepHead }) => ({
    name: 'snip',
    async compact(conversation, context) {
      const { messages } = conversation;
      const [unit, keep] =
        keepMessages > 0 ? (['messages', keepMessages] as const) : (['rounds', keepRounds] as const);
      const starts = startsOf(messages, unit);
      const limit = starts[starts.length - keep];
      if (limit === undefined || starts.length <= keep + keepHead) {
        const message = `${starts.length} ${unit}, no more than those to keep`;
        return notCompacted('skipped', 'short-enough', message);
      }
      const wanted = keepHead === 0 ? 0 : (starts[keepHead] ?? messages.length);
      // Something that belongs together may begin in the head: it ends there too.
      const keepBefore = legalCuts(messages).find((cut) => cut >= wanted) ?? messages.length;
      const edits = dropOldest(conversation, context.pins, { limit, keepBefore });
      return finish(conversation, edits, context, {
        strategy: 'snip',
        reason: `kept the last ${keep} ${unit}`,
      });
    },
  }),
});

function startsOf(messages: readonly Message[], unit: 'messages' | 'rounds'): readonly number[] {
  if (unit === 'messages') return [...messages.keys()];
  return groupRounds(messages, { userTextJoins: 'next' }).map(({ start }) => start);
}
