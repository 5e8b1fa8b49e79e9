import { defineStrategy, notCompacted } from '../plan/strategy.ts';

/** Leaves every conversation as it is: compaction switched off. */
export const none = defineStrategy({
  name: 'none',
  summary: 'leave the conversation as it is',
  options: {},
  create: () => ({
    name: 'none',
    compact: async () => notCompacted('skipped', 'off', 'compaction is switched off'),
  }),
});
