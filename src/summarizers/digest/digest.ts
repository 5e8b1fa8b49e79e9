import type { Summarizer, SummaryOutcome, SummaryRequest } from '../../core/summarizer.ts';
import { judgeSize } from '../write-summary.ts';
import { composeDigest, type DigestModels } from './compose.ts';
import { fittedModels } from './models.ts';

/**
 * The summarizer that needs no model: a working memory made of the conversation's own lines. It holds the user's demands,
 * how tools were called, what the user wrote, the plan, files with the lines most likely to be edited next, calls with
 * what they showed, and what the model said. Which lines and parts of lines are worth their tokens is decided by weights
 * that were fitted to recorded sessions (`bench/digest`).
 *
 * The same messages always give the same digest, within `maximumTokens`, in time linear in their length. A previous digest is
 * read back and goes on to compete for its place; any other previous summary is taken as something that was said.
 * Instructions do nothing here: there is nobody to follow them.
 */
export const digest: Summarizer = createDigest();

/** The same with other weights than the shipped ones, for those who fit their own. */
export function createDigest(models?: DigestModels): Summarizer {
  return {
    name: 'digest',
    asksModel: false,
    fillsTarget: true,
    summarize: async (request) => digestOf(request, models ?? fittedModels()),
  };
}

function digestOf(request: SummaryRequest, models: DigestModels): SummaryOutcome {
  if (request.signal?.aborted === true) {
    return { status: 'failed', reason: 'aborted', message: 'the run was aborted', usage: undefined };
  }
  const text = composeDigest(request, models);
  const rejection = judgeSize(text, request);
  return rejection === undefined
    ? { status: 'summarized', text, usage: undefined }
    : { status: 'failed', ...rejection, usage: undefined };
}
