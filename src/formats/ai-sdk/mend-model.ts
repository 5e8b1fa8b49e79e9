/** Repairs AI SDK model messages, so that `generateText` takes them. */

import { asList, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { textPart } from '../content.ts';
import {
  isGiven,
  LEFT_OUT,
  leaveOutEmpty,
  looseWords,
  type MendContext,
  type Mender,
  plainRole,
  SYSTEM_MARK,
  shapeList,
  splitByRole,
  withRole,
} from '../mend/shaping.ts';

/** The mender of AI SDK model messages. */
export const aiSdkModelMender: Mender = {
  isMessage: ({ content }) => isGiven(content),
  shape,
  ids: () => ({
    needsId: () => true,
    withCallId: (call, id) => ({ ...call, toolCallId: id }),
    withAnsweredId: (result, id) => ({ ...result, toolCallId: id }),
  }),
  holdsWholeHistory: true,
  owesResult(messages) {
    const approved = approvedCalls(messages);
    return ({ id }) => id === undefined || !approved.has(id);
  },
  prepare: dropLonelyApprovals,
  arrange: joinLastResults,
  withInstructions(body, texts) {
    if (body['allowSystemInMessages'] === true) return undefined;
    const key =
      body['instructions'] === undefined && body['system'] !== undefined ? 'system' : 'instructions';
    const before = body[key];
    if (before === undefined || before === null || typeof before === 'string') {
      return { ...body, [key]: [...(before ? [before] : []), ...texts].join('\n\n') };
    }
    const messages = texts.map((content) => ({ role: 'system', content }));
    return { ...body, [key]: [...(Array.isArray(before) ? (before as unknown[]) : [before]), ...messages] };
  },
};

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'tool']);

function shape(message: JsonObject, { frame, log }: MendContext): readonly unknown[] {
  const content = shapeContent(message['content'], log);
  if (content === undefined) return leaveOutEmpty(log);
  const role = ROLES.has(message['role']) ? message['role'] : plainRole(message['role']);
  const named = withRole(message, role, log);
  const filled = content === message['content'] ? named : { ...named, content };
  const isRefused = isObject(frame.body) && frame.body['allowSystemInMessages'] !== true;
  if (role !== 'system' || !isRefused) return splitParts(filled, log);
  log.add('system message in the middle', 'turned into a marked user message');
  const said = typeof content === 'string' ? [textPart(content)] : content;
  return splitParts({ ...filled, role: 'user', content: [textPart(SYSTEM_MARK), ...said] }, log);
}

function shapeContent(content: unknown, log: MendContext['log']): string | readonly unknown[] | undefined {
  if (typeof content === 'string') return content;
  const isPart = (part: unknown) => isObject(part) && typeof part['type'] === 'string';
  return shapeList(content, (part) => (isPart(part) ? [part] : looseWords(part, log).map(textPart)), log);
}

/** Results of the client's tools stand in tool messages, calls in the assistant's, words in neither but their own. */
function splitParts(message: JsonObject, log: MendContext['log']): readonly unknown[] {
  const { role, content } = message;
  const calls = asList(content).filter(isClientCall);
  const clientCalls = new Set(calls.map((part) => (isObject(part) ? part['toolCallId'] : undefined)));
  const roleOf = (part: unknown) => roleOfPart(part, role, clientCalls);
  return splitByRole(message, { key: 'content', own: role, roleOf, log });
}

function isClientCall(part: unknown): boolean {
  return isObject(part) && part['type'] === 'tool-call' && part['providerExecuted'] !== true;
}

function roleOfPart(part: unknown, role: unknown, clientCalls: ReadonlySet<unknown>): unknown {
  if (!isObject(part)) return role;
  switch (part['type']) {
    case 'tool-call':
    case 'tool-approval-request':
    case 'reasoning':
      return 'assistant';
    case 'tool-result':
      return role === 'assistant' && !clientCalls.has(part['toolCallId']) ? role : 'tool';
    case 'tool-approval-response':
      return 'tool';
    case 'text':
    case 'image':
    case 'file':
      return role === 'tool' ? 'user' : role;
    default:
      return role;
  }
}

function partsOf({ raw }: Message): readonly JsonObject[] {
  return isObject(raw) ? asList(raw['content']).filter(isObject) : [];
}

function isOfRole({ raw }: Message, role: string): boolean {
  return isObject(raw) && raw['role'] === role;
}

/** For each approval the call that asked for it, if both are there. */
function approvalCalls(messages: readonly Message[]): ReadonlyMap<unknown, unknown> {
  const calls = new Set<unknown>();
  const requests = new Map<unknown, unknown>();
  for (const message of messages) {
    if (!isOfRole(message, 'assistant')) continue;
    for (const part of partsOf(message)) {
      if (part['type'] === 'tool-call') calls.add(part['toolCallId']);
      if (part['type'] === 'tool-approval-request') requests.set(part['approvalId'], part['toolCallId']);
    }
  }
  return new Map([...requests].filter(([, call]) => calls.has(call)));
}

/** Calls that are approved, or denied, at the very end: the SDK answers them itself before it sends anything. */
function approvedCalls(messages: readonly Message[]): ReadonlySet<unknown> {
  const last = messages.at(-1);
  if (last === undefined || !isOfRole(last, 'tool')) return new Set();
  const calls = approvalCalls(messages);
  const approvals = partsOf(last).filter(isApproval);
  return new Set(approvals.map((part) => calls.get(part['approvalId'])));
}

function isApproval(part: unknown): boolean {
  return isObject(part) && part['type'] === 'tool-approval-response';
}

/** An approval at the end without the call that it approves has nothing to approve. */
function dropLonelyApprovals(messages: readonly Message[], { format, log }: MendContext): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined || !isOfRole(last, 'tool') || !partsOf(last).some(isApproval)) return messages;
  const calls = approvalCalls(messages);
  const isLonely = (part: unknown) => isApproval(part) && isObject(part) && !calls.has(part['approvalId']);
  const kept = last.blocks.filter(({ raw }) => !isLonely(raw));
  if (kept.length === last.blocks.length) return messages;
  log.add('approval without the call that it approves', LEFT_OUT, last.blocks.length - kept.length);
  const rest = messages.slice(0, -1);
  return kept.length === 0 ? rest : [...rest, format.withBlocks(last, kept)];
}

/** The SDK looks for approvals in the last message alone, so results that were made up join them there. */
function joinLastResults(messages: readonly Message[], { format }: MendContext): readonly Message[] {
  const start = messages.findLastIndex((message) => !isOfRole(message, 'tool')) + 1;
  const tail = messages.slice(start);
  const approvals = tail.findIndex((message) => partsOf(message).some(isApproval));
  const [first] = tail;
  if (approvals === -1 || approvals === tail.length - 1 || first === undefined) return messages;
  const open = approvalCalls(messages);
  const parts = tail.flatMap(partsOf);
  const answered = new Set(parts.map((part) => part['toolCallId']));
  const isWaiting = parts.some((part) => isApproval(part) && !answered.has(open.get(part['approvalId'])));
  if (!isWaiting) return messages;
  const joined = tail.flatMap(({ blocks }) => blocks);
  return [...messages.slice(0, start), format.withBlocks(first, joined)];
}
