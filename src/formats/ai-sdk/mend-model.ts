import { asList, asString, isObject, type JsonObject } from '../../conversation/json.ts';
import type { Message } from '../../conversation/message.ts';
import { toJson } from '../content.ts';
import {
  AS_TEXT,
  type IdRules,
  LEFT_OUT,
  looseText,
  type MendContext,
  type Mender,
  plainRole,
  replaceEntries,
  SYSTEM_MARK,
  unwrapMessage,
} from '../mend/shaping.ts';

const ids: IdRules = {
  maxLength: 64,
  isLegal: () => true,
  needsId: () => true,
  withCallId: (call, id) => ({ ...call, toolCallId: id }),
  withAnsweredId: (result, id) => ({ ...result, toolCallId: id }),
};

/** Model messages of the AI SDK. */
export const aiSdkModelMender: Mender = {
  shape,
  idRules: () => ids,
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

function shape(raw: unknown, context: MendContext): readonly unknown[] {
  const { frame, isRequest, log } = context;
  const message = unwrapMessage(raw, hasContent, log);
  if (!isObject(message) || (!hasContent(message) && typeof message['role'] !== 'string')) {
    const text = looseText(raw, log);
    return text === undefined ? [] : [{ role: 'user', content: text }];
  }
  const content = shapeContent(message['content'], context);
  if (content === undefined) {
    log.add('message without content', LEFT_OUT);
    return [];
  }
  const isKnown = ROLES.has(message['role']);
  const role = isKnown ? message['role'] : plainRole(message['role']);
  if (!isKnown) log.add('message of an unknown role', `taken for the ${String(role)}'s`);
  const named = isKnown ? message : { ...message, role };
  const filled = content === message['content'] ? named : { ...named, content };
  const isRefused = isRequest && isObject(frame.body) && frame.body['allowSystemInMessages'] !== true;
  if (role === 'system' && isRefused) {
    log.add('system message in the middle', 'turned into a marked user message');
    const said = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
    return splitByRole(
      { ...filled, role: 'user', content: [{ type: 'text', text: SYSTEM_MARK }, ...said] },
      context,
    );
  }
  return splitByRole(filled, context);
}

function wordsOf(part: unknown): string {
  return (isObject(part) ? asString(part['text']) : undefined) ?? toJson(part) ?? '';
}

function hasContent(value: JsonObject): boolean {
  return (value['content'] ?? null) !== null;
}

function shapeContent(content: unknown, { log }: MendContext): unknown {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return undefined;
  const list = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  if (list !== content) log.add('content that is no list', 'put into one');
  return replaceEntries(list, (part) => {
    if (isObject(part) && typeof part['type'] === 'string') return [part];
    const text = typeof part === 'string' ? part : wordsOf(part ?? undefined);
    log.add('value that is no content part', text.trim() === '' ? LEFT_OUT : AS_TEXT);
    return text.trim() === '' ? [] : [{ type: 'text', text }];
  });
}

/** Results of the client's tools stand in tool messages, calls in the assistant's, words in neither but their own. */
function splitByRole(message: JsonObject, { log }: MendContext): readonly unknown[] {
  const { role } = message;
  const content = asList(message['content']);
  const clientCalls = new Set(
    content.filter(isClientCall).map((part) => (isObject(part) ? part['toolCallId'] : undefined)),
  );
  const roles = content.map((part) => roleOfPart(part, role, clientCalls));
  const strays = roles.filter((one) => one !== role).length;
  if (strays === 0) return [message];
  log.add('block in a message of the wrong role', 'moved to a message of its own', strays);
  const parts: { readonly role: unknown; readonly content: unknown[] }[] = [];
  for (const [index, part] of content.entries()) {
    const last = parts.at(-1);
    if (last !== undefined && last.role === roles[index]) last.content.push(part);
    else parts.push({ role: roles[index], content: [part] });
  }
  return parts.map((part) => (part.role === role ? { ...message, content: part.content } : part));
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
  const answered = new Set(tail.flatMap(partsOf).map((part) => part['toolCallId']));
  const isWaiting = tail
    .flatMap(partsOf)
    .some((part) => isApproval(part) && !answered.has(open.get(part['approvalId'])));
  if (!isWaiting) return messages;
  return [
    ...messages.slice(0, start),
    format.withBlocks(
      first,
      tail.flatMap(({ blocks }) => blocks),
    ),
  ];
}
