import { dropOldest } from '../core/dropping.ts';
import { legalCuts } from '../core/legality.ts';
import { integer } from '../core/options.ts';
import { groupRounds } from '../core/rounds.ts';
import { defineStrategy, finish, notCompacted } from '../core/strategy.ts';

/** Keeps the newest rounds, and some of the oldest if asked to. */
export const snip = defineStrategy({
  name: 'snip',
  summary: 'keep the newest rounds and, if wanted, the first ones',
  options: {
    keepRounds: integer({ default: 10, min: 1, help: 'newest rounds to keep' }),
    keepHead: integer({ default: 0, help: 'rounds to keep at the beginning, besides what is pinned' }),
  },

  create: ({ keepRounds, keepHead }) => ({
    name: 'snip',
    async compact(conversation, context) {
      const rounds = groupRounds(conversation.messages, { userTextJoins: 'next' });
      const tail = rounds[rounds.length - keepRounds];
      if (tail === undefined || rounds.length <= keepRounds + keepHead) {
        return notCompacted('skipped', 'short-enough', `${rounds.length} rounds, no more than those to keep`);
      }
      const wanted = rounds[keepHead - 1]?.end ?? 0;
      // In a broken list a round may end where nothing may be cut.
      const head =
        legalCuts(conversation.messages).find((cut) => cut >= wanted) ?? conversation.messages.length;
      const all = dropOldest(conversation, context.pins, { limit: tail.start, isEnough: () => false });
      const edits = all.flatMap((edit) => {
        if (edit.type !== 'drop' || edit.start >= head) return [edit];
        return edit.end > head ? [{ ...edit, start: head }] : [];
      });
      const isOpened = head > 0;
      const needed = isOpened ? edits.filter((edit) => edit.type !== 'insert') : edits;
      return finish(conversation, needed, context, {
        strategy: 'snip',
        reason: `kept the last ${keepRounds} rounds`,
      });
    },
  }),
});
