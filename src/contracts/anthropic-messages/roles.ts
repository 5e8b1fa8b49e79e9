import type { Violation } from '../contract.ts';
import { isGiven, read, readText } from '../json-value.ts';
import type { Check, Message, Request } from './request.ts';
import { rules } from './rules.ts';
import { isServerBlock, isServerResult } from './server-tools.ts';
import { report } from './worded-rule.ts';

/** Block types that only one role can say. */
const roleOfBlock: ReadonlyMap<string, string> = new Map([
  ['tool_use', 'assistant'],
  ['server_tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_result', 'user'],
]);

/** Who speaks first and last, what each may say, and where system messages stand. */
export const checkRoles: Check = (request) => [
  ...checkFirst(request),
  ...request.messages.flatMap(checkBlockRoles),
  ...checkSystemMessages(request),
  ...checkLast(request),
];

function checkFirst({ messages }: Request): Violation[] {
  const first = messages[0];
  if (first?.index !== 0 || first.role !== 'assistant' || first.blocks[0]?.type === 'compaction') return [];
  return [report(rules.firstMessageNotUser, first.path)];
}

/** One violation for each type of block, however many of them a message holds. */
function checkBlockRoles({ role, path, blocks }: Message): Violation[] {
  const misplaced = blocks.filter(({ type }) => (roleOfBlock.get(type) ?? role) !== role);
  const types = new Set(misplaced.map(({ type }) => type));
  return [...types].map((type) => report(rules.blockInWrongRole, path, type, roleOfBlock.get(type) ?? ''));
}

/** Consecutive system messages count as one. */
function checkSystemMessages({ messages, facts }: Request): Violation[] {
  return messages.flatMap((message, position) => {
    const before = messages[position - 1];
    if (message.role !== 'system' || before?.role === 'system') return [];
    if (message.index === 0) return [report(rules.systemMessageFirst, message.path)];
    if (!facts.takesSystemMessages) return [report(rules.systemMessageUnsupported, message.path)];
    const isPlaced = mayPrecedeSystem(before) && mayFollowSystem(nextOther(messages, position));
    return isPlaced ? [] : [report(rules.systemMessageMisplaced, message.path)];
  });
}

function nextOther(messages: readonly Message[], from: number): Message | undefined {
  let position = from;
  while (messages[position]?.role === 'system') position++;
  return messages[position];
}

function mayPrecedeSystem(message: Message | undefined): boolean {
  if (message?.role === 'assistant') return isServerResult(message.blocks.at(-1)?.type ?? '');
  return message?.role === 'user';
}

function mayFollowSystem(message: Message | undefined): boolean {
  return message === undefined || message.role === 'assistant';
}

/** Only a request ends in a prefill; a list that merely ends with the assistant goes on later. */
function checkLast({ messages, facts, body, isWhole }: Request): Violation[] {
  const last = messages.at(-1);
  if (!isWhole || last?.role !== 'assistant' || isGiven(read(body, 'compaction')) || isContinuation(last))
    return [];
  if (!facts.takesPrefill) return [report(rules.prefillUnsupported, last.path)];
  const text = last.blocks.at(-1)?.type === 'text' ? readText(last.blocks.at(-1)?.value, 'text') : undefined;
  const isTrailing = text !== undefined && text.trim() !== '' && text !== text.trimEnd();
  return isTrailing ? [report(rules.prefillEndsInWhitespace, last.path)] : [];
}

/** A paused turn, a compaction stop or a fallback goes on without being a prefill; an open call is a fault of the pairing. */
function isContinuation({ blocks }: Message): boolean {
  return blocks.some(
    ({ type }) => isServerBlock(type) || type === 'compaction' || type === 'fallback' || type === 'tool_use',
  );
}
