import { type Finding, report } from '../finding.ts';
import { readText } from '../json-value.ts';
import type { Part, Prompt, PromptMessage } from './request.ts';
import { aiSdkRules } from './rules.ts';

const { approvalWithoutCall } = aiSdkRules;

/** The approvals in the last message: only there the SDK looks for tools to run before it sends anything. */
export function findApprovals(messages: readonly PromptMessage[]): readonly Part[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.parts.filter(({ type }) => type === 'tool-approval-response') : [];
}

/** For each approval id the id of the call that asked for it. */
export function readRequests(messages: readonly PromptMessage[]): ReadonlyMap<string, string> {
  const requests = new Map<string, string>();
  for (const { value } of assistantParts(messages, 'tool-approval-request')) {
    requests.set(readText(value, 'approvalId') ?? '', readText(value, 'toolCallId') ?? '');
  }
  return requests;
}

/** Approvals that a cut has parted from what they approve. */
export function checkApprovals({ messages = [], key }: Prompt): readonly Finding[] {
  const approvals = findApprovals(messages);
  if (approvals.length === 0) return [];
  const requests = readRequests(messages);
  const calls = new Set(
    assistantParts(messages, 'tool-call').map(({ value }) => readText(value, 'toolCallId') ?? ''),
  );
  const answered = new Set(messages.at(-1)?.parts.map(({ value }) => readText(value, 'toolCallId')));
  return approvals.flatMap(({ value, message, position }) => {
    const approvalId = readText(value, 'approvalId') ?? '';
    const callId = requests.get(approvalId);
    if (callId !== undefined && (calls.has(callId) || answered.has(callId))) return [];
    const text =
      callId === undefined
        ? approvalWithoutCall.wording.noRequest(approvalId)
        : approvalWithoutCall.wording.noCall(callId, approvalId);
    const path = `${key}[${message}].content[${position}]`;
    return [report(approvalWithoutCall, { place: [message, position], path, message: text })];
  });
}

function assistantParts(messages: readonly PromptMessage[], type: string): readonly Part[] {
  return messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts.filter((part) => part.type === type));
}
