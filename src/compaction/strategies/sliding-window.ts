import { integer } from '../../conversation/options.ts';
import { dropOldest } from '../plan/layout.ts';
import { defineStrategy, finish, notCompacted } from '../plan/strategy.ts';

/** Keeps the newest messages and what is pinned. */
export const slidingWindow = defineStrategy({
  name: 'sliding-window',
  summary: 'keep the newest messages, drop older ones',
  options: {
    keepLast: integer({
      default: 10,
      min: 1,
      help: 'messages to keep; more stay where a cut would part what belongs together',
    }),
  },

  create: ({ keepLast }) => ({
    name: 'sliding-window',
    async compact(conversation, context) {
      const { length } = conversation.messages;
      if (length <= keepLast) {
        return notCompacted(
          'skipped',
          'short-enough',
          `${length} messages, no more than the ${keepLast} to keep`,
        );
      }
      const edits = dropOldest(conversation, context.pins, { limit: length - keepLast });
      return finish(conversation, edits, context, {
        strategy: 'sliding-window',
        reason: `kept the last ${keepLast}`,
      });
    },
  }),
});
