import type { DigestModels } from '../../src/summarizers/digest/compose.ts';
import { fittedModels, unpackModels } from '../../src/summarizers/digest/models.ts';
import { foldOfSession, foldWeights } from './folds.gen.ts';

/**
 * The models that were fitted without this session, so that it can be scored. A session that no fit has seen gets the shipped
 * ones.
 */
export function heldOutModels(session: string): DigestModels {
  const fold = Object.hasOwn(foldOfSession, session) ? foldOfSession[session] : undefined;
  const weights = fold === undefined ? undefined : foldWeights[fold];
  return weights === undefined ? fittedModels() : unpackModels(weights);
}
