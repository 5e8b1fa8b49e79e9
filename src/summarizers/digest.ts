import type { Summarizer } from '../core/summarizer.ts';

/**
 * The summarizer that needs no model: a working memory made of the conversation's own lines, chosen by weights that were
 * fitted to recorded sessions. The same messages always give the same digest, within its room, in time linear in their
 * length; a previous digest goes on to compete for its place. Instructions do nothing here: there is nobody to follow them.
 *
 * It is loaded with the first summary: most programs that could need one never do.
 */
export const digest: Summarizer = {
  name: 'digest',
  asksModel: false,
  fillsTarget: true,
  async summarize(request) {
    const { digestMessages } = await import('./digest/digest.ts');
    return digestMessages(request);
  },
};
