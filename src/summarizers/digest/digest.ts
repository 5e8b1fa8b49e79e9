import type { SummaryOutcome, SummaryRequest } from '../../core/summarizer.ts';
import { judgeSize } from '../write-summary.ts';
import { composeDigest } from './compose.ts';
import { fittedModels } from './models.ts';
import type { DigestModels } from './worth.ts';

/** Digests messages with these weights; the shipped ones by default. */
export function digestMessages(
  request: SummaryRequest,
  models: DigestModels = fittedModels(),
): SummaryOutcome {
  if (request.signal?.aborted === true) {
    return { status: 'failed', reason: 'aborted', message: 'the run was aborted', usage: undefined };
  }
  const text = composeDigest(request, models);
  const rejection = judgeSize(text, request);
  return rejection === undefined
    ? { status: 'summarized', text, usage: undefined }
    : { status: 'failed', ...rejection, usage: undefined };
}
