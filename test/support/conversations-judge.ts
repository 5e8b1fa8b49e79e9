import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/core/format.ts';
import { undoPlan } from '../../src/core/plan.ts';
import type { Compacted } from '../../src/core/strategy.ts';

/**
 * What is wrong with a compaction, in words; empty when it is as it must be. `original` is what the output may be no worse
 * than: what was there before, or what was there before a whole chain of compactions.
 */
export function faultsOf(
  before: Conversation,
  { conversation, undo, receipt }: Compacted,
  original: Conversation = before,
): readonly string[] {
  const faults: string[] = [];
  if (conversation.messages.length === 0) faults.push('the output is empty');
  for (const rule of newViolations(original, conversation)) faults.push(`the output breaks rule ${rule}`);
  if (!haveSameRaws(before, undoPlan(conversation, undo)))
    faults.push('undoing gives something else than what was there');
  const isAccounted = receipt.runs.every(({ start }, index) => start === (receipt.runs[index - 1]?.end ?? 0));
  if (!isAccounted || receipt.runs.at(-1)?.end !== before.messages.length)
    faults.push('the receipt does not account for every message once');
  if (receipt.messagesAfter !== conversation.messages.length)
    faults.push('the receipt counts other messages than there are');
  return faults;
}

/** Rules that are broken more often afterwards than before. */
function newViolations(before: Conversation, after: Conversation): readonly string[] {
  const old = brokenRules(before);
  return [...brokenRules(after)]
    .filter(([rule, count]) => count > (old.get(rule) ?? 0))
    .map(([rule]) => rule);
}

const remembered = new WeakMap<Conversation, ReadonlyMap<string, number>>();

/** How often a conversation breaks each rule of its provider. Remembered per conversation. */
export function brokenRules(conversation: Conversation): ReadonlyMap<string, number> {
  const known = remembered.get(conversation);
  if (known !== undefined) return known;
  const rules = new Map<string, number>();
  const contract = findContract(conversation.format.name);
  const violations = contract?.check(writeConversation(conversation), { scope: 'messages' }) ?? [];
  for (const { rule, severity, message } of violations) {
    if (severity === 'error') rules.set(rule, (rules.get(rule) ?? 0) + timesNamed(rule, message));
  }
  remembered.set(conversation, rules);
  return rules;
}

/** V1 is reported once for all calls that wait for a result: where a message comes between them, no more calls wait. */
function timesNamed(rule: string, message: string): number {
  return rule === 'V1' ? message.split(', ').length : 1;
}

/** Whether two conversations hold the very same values in the same order. */
function haveSameRaws({ messages }: Conversation, { messages: others }: Conversation): boolean {
  return messages.length === others.length && messages.every(({ raw }, index) => raw === others[index]?.raw);
}
