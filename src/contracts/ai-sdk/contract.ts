import type { Contract } from '../contract.ts';
import { type Finding, inOrderOfPlace, listRules, report } from '../finding.ts';
import { checkApprovals } from './approvals.ts';
import { checkPairing } from './pairing.ts';
import { type Prompt, readPrompt } from './request.ts';
import { aiSdkRules } from './rules.ts';

const { noMessages, systemMessageNotAllowed } = aiSdkRules;
const checks = [checkPresence, checkSystem, checkPairing, checkApprovals];

/**
 * What `generateText` and `streamText` of the Vercel AI SDK (version 7) refuse before they call a provider, for model
 * messages: the options of a call, or a bare list. The provider's own rules come on top of these.
 *
 * System messages are allowed where the body says so (`allowSystemInMessages`), and not judged when `context.scope` is
 * `messages`.
 */
export const aiSdkContract: Contract = {
  format: 'ai-sdk-model',
  rules: listRules(aiSdkRules),

  check(body, context = {}) {
    const prompt = readPrompt(body, context);
    return inOrderOfPlace(checks.flatMap((check) => check(prompt)));
  },
};

function checkPresence({ messages, key }: Prompt): readonly Finding[] {
  if (messages !== undefined && messages.length > 0) return [];
  const message = messages === undefined ? noMessages.wording.missing() : noMessages.wording.empty();
  return [report(noMessages, { place: [], path: key, message })];
}

function checkSystem({ messages = [], key, allowsSystem }: Prompt): readonly Finding[] {
  if (allowsSystem) return [];
  return messages.flatMap(({ role }, index) =>
    role === 'system'
      ? [
          report(systemMessageNotAllowed, {
            place: [index],
            path: `${key}[${index}]`,
            message: systemMessageNotAllowed.wording(),
          }),
        ]
      : [],
  );
}
