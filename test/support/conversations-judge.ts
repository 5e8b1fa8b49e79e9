import { undoPlan } from '../../src/compaction/plan/plan.ts';
import type { Change } from '../../src/compaction/plan/strategy.ts';
import type { Violation } from '../../src/contracts/contract.ts';
import { findContract } from '../../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../../src/conversation/format.ts';

/**
 * What is wrong with a compaction, in words; empty when it is as it must be. `original` is what the output may be no worse
 * than: what was there before, or what was there before a whole chain of compactions.
 */
export function faultsOf(
  before: Conversation,
  { conversation, undo, receipt }: Change,
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
  const { name } = conversation.format;
  const violations = findContract(name)?.check(writeConversation(conversation), { scope: 'messages' }) ?? [];
  for (const violation of violations.filter(({ severity }) => severity === 'error')) {
    rules.set(violation.rule, (rules.get(violation.rule) ?? 0) + timesNamed(name, violation));
  }
  remembered.set(conversation, rules);
  return rules;
}

/**
 * The AI SDK reports all calls that wait for a result at once: where a message comes between them, no more calls wait.
 * Its message names them.
 */
function timesNamed(format: string, { rule, message }: Violation): number {
  const namesAll = format === 'ai-sdk-model' && rule === 'tool-call-without-result';
  return namesAll ? message.split(', ').length : 1;
}

/** Whether two conversations hold the very same values in the same order. */
function haveSameRaws({ messages }: Conversation, { messages: others }: Conversation): boolean {
  return messages.length === others.length && messages.every(({ raw }, index) => raw === others[index]?.raw);
}
