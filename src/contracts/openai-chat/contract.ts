import type { Contract } from '../contract.ts';
import { inOrderOfPlace, listRules, report } from '../finding.ts';
import { checkLimits } from './limits.ts';
import { checkMistral } from './mistral.ts';
import { checkPairing } from './pairing.ts';
import { readChatRequest } from './request.ts';
import { chatRules } from './rules.ts';
import { checkSampling } from './sampling.ts';
import { checkShape } from './shape.ts';

const { wrongKindOfValue } = chatRules;
const checks = [checkShape, checkLimits, checkPairing, checkSampling, checkMistral];

/**
 * OpenAI `POST /v1/chat/completions` and the servers that speak it. `context.vendor` chooses the wording and
 * the rules of `deepseek`, `qwen` and `mistral`; the limits of OpenAI's own server are left out for every vendor
 * but `openai` and `azure`.
 */
export const openaiChatContract: Contract = {
  format: 'openai-chat',
  rules: listRules(chatRules),

  check(body, context = {}) {
    const request = readChatRequest(body, context);
    if (request === undefined) {
      const message = wrongKindOfValue.wording('body', 'an object', body);
      return inOrderOfPlace([report(wrongKindOfValue, { place: [], path: 'body', message })]);
    }
    return inOrderOfPlace(checks.flatMap((check) => check(request)));
  },
};
