import type { Contract } from '../contract.ts';
import { listRules } from '../finding.ts';
import { isObject } from '../json-value.ts';
import { checkBetas } from './betas.ts';
import { checkCaching } from './caching.ts';
import { checkCompactionBlocks, checkCompactionRequest } from './compaction.ts';
import { checkContent } from './content.ts';
import { checkFrame } from './frame.ts';
import { checkImages } from './images.ts';
import { checkPairing } from './pairing.ts';
import { inOrderOfPlace } from './place.ts';
import { type Check, readRequest } from './request.ts';
import { checkRoles } from './roles.ts';
import { rules } from './rules.ts';
import { checkServerTools } from './server-tools.ts';
import { checkShape } from './shape.ts';
import { checkThinkingLoop, checkThinkingMode, checkThinkingSeals } from './thinking.ts';
import { checkTools } from './tools.ts';
import { report } from './worded-rule.ts';

/** Groups of rules about the frame of a request. Left out when only the message list is known. */
const frameChecks: readonly Check[] = [
  checkFrame,
  checkTools,
  checkThinkingMode,
  checkThinkingLoop,
  checkCompactionRequest,
];

/** Groups of rules about the message list. */
const messageChecks: readonly Check[] = [
  checkShape,
  checkBetas,
  checkRoles,
  checkContent,
  checkPairing,
  checkServerTools,
  checkCompactionBlocks,
  checkThinkingSeals,
  checkCaching,
  checkImages,
];

/** `POST /v1/messages`, judged by the provider's rules as far as a request tells by itself. */
export const anthropicMessagesContract: Contract = {
  format: 'anthropic-messages',

  rules: listRules(rules),

  check(body, context = {}) {
    // A bare message list is often kept as nothing but the list.
    const frame = context.scope === 'messages' && Array.isArray(body) ? { messages: body } : body;
    if (!isObject(frame)) return [report(rules.wrongKindOfValue, 'body', 'an object')];
    const request = readRequest(frame, context);
    const checks = request.isWhole ? [...frameChecks, ...messageChecks] : messageChecks;
    return inOrderOfPlace(checks.flatMap((check) => check(request)));
  },
};
