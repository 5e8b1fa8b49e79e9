import type { Contract } from '../contract.ts';
import { inOrderOfPlace, listRules, report } from '../finding.ts';
import { checkIds } from './ids.ts';
import { checkPairing } from './pairing.ts';
import { checkReasoning } from './reasoning.ts';
import { readResponsesRequest } from './request.ts';
import { responsesRules } from './rules.ts';
import { checkServerState } from './server-state.ts';
import { checkShape } from './shape.ts';

const { wrongKindOfValue } = responsesRules;
const checks = [checkShape, checkIds, checkServerState, checkReasoning, checkPairing];

/**
 * OpenAI `POST /v1/responses` and the servers that speak it. Rules about ids and reasoning items are OpenAI's own and
 * are left out for every vendor but `openai` and `azure`; `deepseek` is held to strict adjacency of calls and outputs.
 * `context.stored` and `context.seals` open the rules that need the server's memory.
 */
export const openaiResponsesContract: Contract = {
  format: 'openai-responses',
  rules: listRules(responsesRules),

  check(body, context = {}) {
    const request = readResponsesRequest(body, context);
    if (request === undefined) {
      const message = wrongKindOfValue.wording('body', 'an object', body);
      return inOrderOfPlace([report(wrongKindOfValue, { place: [], path: 'body', message })]);
    }
    return inOrderOfPlace(checks.flatMap((check) => check(request)));
  },
};
