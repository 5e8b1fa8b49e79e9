import { type Finding, report } from '../finding.ts';
import { read, readText } from '../json-value.ts';
import { findApprovals, readRequests } from './approvals.ts';
import type { Part, Prompt, PromptMessage } from './request.ts';
import { aiSdkRules } from './rules.ts';

const { toolCallWithoutResult } = aiSdkRules;

/**
 * Calls wait for their results until a user or system message comes or the list ends. Tools that the provider
 * runs are not looked at, nor are those whose approval (or denial) is the last message: the SDK answers them first.
 * A call that merely waits for an approval is as unanswered as any other.
 */
export function checkPairing({ messages = [], key }: Prompt): readonly Finding[] {
  const findings: Finding[] = [];
  const waiting = new Map<string, Part>();
  const judge = () => {
    const [first] = waiting.values();
    if (first === undefined) return;
    const { message, position } = first;
    const path = `${key}[${message}].content[${position}]`;
    findings.push(
      report(toolCallWithoutResult, {
        place: [message, position],
        path,
        message: toolCallWithoutResult.wording([...waiting.keys()]),
      }),
    );
    waiting.clear();
  };
  for (const { role, parts } of messages) {
    if (role === 'user' || role === 'system') judge();
    if (role === 'assistant') for (const part of parts.filter(isClientCall)) waiting.set(idOf(part), part);
    if (role === 'tool') for (const part of parts.filter(isResult)) waiting.delete(idOf(part));
  }
  for (const id of callsToRun(messages)) waiting.delete(id);
  judge();
  return findings;
}

function isClientCall({ type, value }: Part): boolean {
  return type === 'tool-call' && read(value, 'providerExecuted') !== true;
}

function isResult({ type }: Part): boolean {
  return type === 'tool-result';
}

function idOf({ value }: Part): string {
  return readText(value, 'toolCallId') ?? 'undefined';
}

function callsToRun(messages: readonly PromptMessage[]): readonly string[] {
  const requests = readRequests(messages);
  return findApprovals(messages).flatMap(
    ({ value }) => requests.get(readText(value, 'approvalId') ?? '') ?? [],
  );
}
