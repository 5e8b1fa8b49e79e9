import type { Contract } from '../contract.ts';
import { inOrderOfPlace, listRules, report } from '../finding.ts';
import { readGeminiRequest } from './request.ts';
import { geminiRules } from './rules.ts';
import { checkShape } from './shape.ts';
import { checkSignatures } from './signatures.ts';
import { checkTurns } from './turns.ts';

const { wrongKindOfValue } = geminiRules;
const checks = [checkShape, checkTurns, checkSignatures];

/**
 * Gemini `generateContent`. The model usually stands in the address and not in the body: pass it as `context.model`,
 * or the signature rule of Gemini 3 stays silent. `context.vendor` is `vertex` for Vertex AI, which wants a role
 * on every content.
 */
export const geminiContract: Contract = {
  format: 'gemini',
  rules: listRules(geminiRules),

  check(body, context = {}) {
    const request = readGeminiRequest(body, context);
    if (request === undefined) {
      const message = wrongKindOfValue.wording('body', 'GenerateContentRequest');
      return inOrderOfPlace([report(wrongKindOfValue, { place: [], path: 'body', message })]);
    }
    return inOrderOfPlace(checks.flatMap((check) => check(request)));
  },
};
