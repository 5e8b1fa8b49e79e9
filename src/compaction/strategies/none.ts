import { defineStrategy, notCompacted } from '../plan/strategy.ts';

/** Does nothing, and says so. The way to switch compaction off. */
export const none = defineStrategy({
  name: 'none',
  summary: 'leave the conversation as it is',
  options: {},
  create: () => ({
    name: 'none',
    compact: async () => notCompacted('skipped', 'off', 'compaction is switched off'),
  }),
});
