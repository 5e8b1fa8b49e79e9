import type { Summarizer } from '../../src/core/summarizer.ts';
import { digestMessages } from '../../src/summarizers/digest/digest.ts';
import { fittedModels, unpackModels } from '../../src/summarizers/digest/models.ts';
import type { DigestModels } from '../../src/summarizers/digest/worth.ts';
import { digest } from '../../src/summarizers/digest.ts';

import { foldOfSession, foldWeights } from './folds.gen.ts';

/**
 * The models that were fitted without this session, so that it can be scored. A session that no fit has seen gets the shipped
 * ones.
 */
function heldOutModels(session: string): DigestModels {
  const fold = Object.hasOwn(foldOfSession, session) ? foldOfSession[session] : undefined;
  const weights = fold === undefined ? undefined : foldWeights[fold];
  return weights === undefined ? fittedModels() : unpackModels(weights);
}

/** The digest with weights that this session had no part in. */
export function heldOutDigest(session: string): Summarizer {
  const models = heldOutModels(session);
  return { ...digest, summarize: async (request) => digestMessages(request, models) };
}
