import type { CheckContext, Violation } from './contract.ts';
import { isObject, read, readList, readText } from './json-value.ts';
import { defineRules, type RuleGroup, report } from './rule.ts';

/** One part of a message's content, with where it stands. */
interface Part {
  readonly value: unknown;
  readonly type: string | undefined;
  readonly path: string;
}

interface PromptMessage {
  readonly role: unknown;
  readonly path: string;
  readonly parts: readonly Part[];
}

/** What a call of `generateText` or `streamText` sends, as far as the SDK judges it. */
interface Prompt {
  /** Undefined when there is neither a prompt nor a list of messages. */
  readonly messages: readonly PromptMessage[] | undefined;
  /** Where the list stands: `messages`, or `prompt` when that holds it. */
  readonly key: string;
  readonly allowsSystem: boolean;
}

const rules = defineRules({
  'tool-call-without-result': {
    alias: 'V1',
    title:
      'every call of a client tool is answered before the next user or system message, and before the end',
    fix: 'Put a tool message with a tool-result for each of these calls behind them, or remove the calls.',
    evidence: 'server-source',
    wording: (_path: string, ids: readonly string[]) =>
      ids.length > 1
        ? `Tool results are missing for tool calls ${ids.join(', ')}.`
        : `Tool result is missing for tool call ${ids.join()}.`,
  },
  'no-messages': {
    alias: 'V2',
    title: 'there is at least one message',
    fix: 'Give a list of messages with at least one message in it.',
    evidence: 'server-source',
    wording: (_path: string, hasList: boolean) =>
      hasList
        ? 'Invalid prompt: messages must not be empty'
        : // Version 6. Version 7 leaves this to its types and fails with a TypeError.
          'Invalid prompt: prompt or messages must be defined',
  },
  'system-message-not-allowed': {
    alias: 'V3',
    title: 'system messages stand in the instructions, not among the messages',
    fix: 'Move the text to the instructions, or set allowSystemInMessages if the messages are your own.',
    evidence: 'server-source',
    wording: () =>
      'Invalid prompt: System messages are not allowed in the prompt or messages fields. Use the instructions option instead.',
  },
  'approval-without-call': {
    alias: 'V4',
    title: 'an approval at the end has its request, and the request its call',
    fix: 'Keep the assistant message with the call and the approval request together with the approval.',
    evidence: 'server-source',
    wording: (_path: string, approvalId: string, callId: string | undefined) =>
      callId === undefined
        ? `Tool approval response references unknown approvalId: "${approvalId}". No matching tool-approval-request found in message history.`
        : `Tool call "${callId}" not found for approval request "${approvalId}".`,
  },
});

/** What the SDK refuses before anything is sent. */
export const aiSdkPrompts: RuleGroup<Prompt> = {
  rules,
  check: (prompt) => [
    ...checkPresence(prompt),
    ...checkSystem(prompt),
    ...checkPairing(prompt),
    ...checkApprovals(prompt),
  ],
};

/** Reads the options of a call, or a bare list of messages. */
export function readPrompt(body: unknown, context: CheckContext): Prompt {
  if (Array.isArray(body)) return toPrompt(body, 'messages', context.scope === 'messages');
  const allowsSystem = context.scope === 'messages' || read(body, 'allowSystemInMessages') === true;
  const prompt = read(body, 'prompt');
  if (typeof prompt === 'string')
    return toPrompt([{ role: 'user', content: prompt }], 'prompt', allowsSystem);
  const key = Array.isArray(prompt) ? 'prompt' : 'messages';
  const list = isObject(body) && Array.isArray(body[key]) ? body[key] : undefined;
  return toPrompt(list, key, allowsSystem);
}

function toPrompt(list: readonly unknown[] | undefined, key: string, allowsSystem: boolean): Prompt {
  const messages = list?.map((message, index) => readMessage(message, `${key}[${index}]`));
  return { messages, key, allowsSystem };
}

function readMessage(message: unknown, path: string): PromptMessage {
  const parts = readList(message, 'content').map((value, position) => ({
    value,
    type: readText(value, 'type'),
    path: `${path}.content[${position}]`,
  }));
  return { role: read(message, 'role'), path, parts };
}

function checkPresence({ messages, key }: Prompt): readonly Violation[] {
  if (messages !== undefined && messages.length > 0) return [];
  return [report(rules['no-messages'], key, messages !== undefined)];
}

function checkSystem({ messages = [], allowsSystem }: Prompt): readonly Violation[] {
  if (allowsSystem) return [];
  return messages
    .filter(({ role }) => role === 'system')
    .map(({ path }) => report(rules['system-message-not-allowed'], path));
}

/**
 * Calls wait for their results until a user or system message comes or the list ends. Tools that the provider
 * runs are not looked at, nor are those whose approval (or denial) is the last message: the SDK answers them first.
 * A call that merely waits for an approval is as unanswered as any other.
 */
function checkPairing({ messages = [] }: Prompt): readonly Violation[] {
  const violations: Violation[] = [];
  const waiting = new Map<string, Part>();
  const judge = () => {
    const [first] = waiting.values();
    if (first === undefined) return;
    violations.push(report(rules['tool-call-without-result'], first.path, [...waiting.keys()]));
    waiting.clear();
  };
  for (const { role, parts } of messages) {
    if (role === 'user' || role === 'system') judge();
    if (role === 'assistant') for (const part of parts.filter(isClientCall)) waiting.set(idOf(part), part);
    if (role === 'tool') for (const part of parts.filter(isResult)) waiting.delete(idOf(part));
  }
  for (const id of callsToRun(messages)) waiting.delete(id);
  judge();
  return violations;
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

/** Approvals that a cut has parted from what they approve. */
function checkApprovals({ messages = [] }: Prompt): readonly Violation[] {
  const approvals = findApprovals(messages);
  if (approvals.length === 0) return [];
  const requests = readRequests(messages);
  const calls = new Set(
    assistantParts(messages, 'tool-call').map(({ value }) => readText(value, 'toolCallId') ?? ''),
  );
  const answered = new Set(messages.at(-1)?.parts.map(({ value }) => readText(value, 'toolCallId')));
  return approvals.flatMap(({ value, path }) => {
    const approvalId = readText(value, 'approvalId') ?? '';
    const callId = requests.get(approvalId);
    if (callId !== undefined && (calls.has(callId) || answered.has(callId))) return [];
    return [report(rules['approval-without-call'], path, approvalId, callId)];
  });
}

/** The approvals in the last message: only there the SDK looks for tools to run before it sends anything. */
function findApprovals(messages: readonly PromptMessage[]): readonly Part[] {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.parts.filter(({ type }) => type === 'tool-approval-response') : [];
}

/** For each approval id the id of the call that asked for it. */
function readRequests(messages: readonly PromptMessage[]): ReadonlyMap<string, string> {
  return new Map(
    assistantParts(messages, 'tool-approval-request').map(({ value }) => [
      readText(value, 'approvalId') ?? '',
      readText(value, 'toolCallId') ?? '',
    ]),
  );
}

function assistantParts(messages: readonly PromptMessage[], type: string): readonly Part[] {
  return messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts.filter((part) => part.type === type));
}
