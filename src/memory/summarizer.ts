import type { Summarizer } from './summary-request.ts';

/**
 * The summarizer that needs no model: a memory of what the user said, what happened and how things stand, in the
 * conversation's own sentences and lines. The same messages always give the same memory, within its room, in time linear in
 * their length; an earlier memory goes on in the next. Instructions do nothing here: there is nobody to follow them.
 *
 * It is loaded with the first summary: most programs that could need one never do.
 */
export const memory: Summarizer = {
  name: 'memory',
  asksModel: false,
  writesMemory: true,
  async summarize(request) {
    const { remember } = await import('./memory.ts');
    return remember(request);
  },
};
