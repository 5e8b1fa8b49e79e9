import { findContract } from '../contracts/registry.ts';
import { type Conversation, withMessages, writeConversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';

/** Rules of the wire format that these messages break and the recorded prefix did not. Empty for a legal output. */
export function brokenRules(prefix: Conversation, output: readonly Message[]): readonly string[] {
  const known = new Set(rulesBrokenBy(prefix));
  return rulesBrokenBy(withMessages(prefix, output)).filter((rule) => !known.has(rule));
}

function rulesBrokenBy(conversation: Conversation): readonly string[] {
  const violations = findContract(conversation.format.name)?.check(writeConversation(conversation), {
    scope: 'messages',
  });
  const broken = violations?.filter(({ severity }) => severity === 'error').map(({ rule }) => rule) ?? [];
  return [...new Set(broken)];
}

/** Share of the tokens of `after` that stand in front, unchanged since `before`: what a prompt cache still knows. */
export function stableShare(
  before: readonly Message[],
  after: readonly Message[],
  countMessage: (message: Message) => number,
): number {
  let stable = 0;
  let total = 0;
  let isStable = true;
  for (const [index, message] of after.entries()) {
    const tokens = countMessage(message);
    isStable &&= before[index]?.raw === message.raw;
    if (isStable) stable += tokens;
    total += tokens;
  }
  return total === 0 ? 1 : stable / total;
}
