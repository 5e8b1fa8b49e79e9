import { findContract } from '../contracts/registry.ts';
import { type Conversation, writeConversation } from '../conversation/format.ts';
import { isObject } from '../conversation/json.ts';
import { changeOf, notCompacted, type Outcome } from './plan/strategy.ts';

/**
 * The outcome, unless what it would send breaks more rules of its provider than what came in: then nothing is changed. A
 * strategy may be anybody's, and ours have mistakes too.
 */
export function refuseIllegal(before: Conversation, outcome: Outcome): Outcome {
  const change = changeOf(outcome);
  if (change === undefined) return outcome;
  const faults = faultsOf(change.conversation);
  if (faults.length === 0 || faults.length <= faultsOf(before).length) return outcome;
  const [first] = faults;
  const message = `the result would be refused (${first?.path}: ${first?.message}); it was discarded`;
  return notCompacted('failed', 'illegal-output', message, outcome.usage);
}

/** What a provider would refuse. Only the list is judged where no more of a request is known. */
function faultsOf(
  conversation: Conversation,
): readonly { readonly path: string; readonly message: string }[] {
  const contract = findContract(conversation.format.name);
  const value = writeConversation(conversation);
  const scope = isObject(value) && !Array.isArray(value) ? 'request' : 'messages';
  return contract?.check(value, { scope }).filter(({ severity }) => severity === 'error') ?? [];
}
