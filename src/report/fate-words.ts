import type { Fate } from '../compaction/plan/plan.ts';

/** What became of messages, in words, in the order in which it is told. */
export const fateWords: Readonly<Record<Fate, string>> = {
  verbatim: 'unchanged',
  reduced: 'made smaller',
  summarised: 'in a summary',
  dropped: 'left out',
};
