import type { Violation } from '../contract.ts';
import { isGiven, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { isStrictVersion } from './frame.ts';
import { type Block, type Message, type Request, readTypedList } from './request.ts';
import { isServerBlock, isServerResult } from './tools.ts';

const rules = defineRules({
  'first-message-not-user': {
    alias: 'A9',
    title: 'the first message is the user’s',
    fix: 'Start with a user message, or with a message that begins with a compaction block.',
    evidence: 'reported',
    wording: () => 'messages: first message must use the "user" role',
  },
  'prefill-ends-in-whitespace': {
    alias: 'A14',
    title: 'a prefill does not end in whitespace',
    fix: 'Trim the end of the final assistant text.',
    evidence: 'reported',
    wording: () => 'messages: final assistant content cannot end with trailing whitespace',
  },
  'prefill-unsupported': {
    alias: 'A15',
    title: 'a list ends with an assistant message only where the model takes a prefill',
    fix: 'End with a user message.',
    evidence: 'documented',
    wording: () =>
      'This model does not support assistant message prefill. The conversation must end with a user message.',
  },
  'block-in-wrong-role': {
    alias: 'A21',
    title: 'blocks stand in their role',
    fix: 'Move the block into a message of the right role.',
    evidence: 'reported',
    wording: (path: string, type: string, role: string) =>
      `${path}: \`${type}\` blocks can only be in \`${role}\` messages`,
  },
  'system-message-first': {
    alias: 'A44',
    title: 'a system message is not first',
    fix: 'Use the top-level `system` parameter for the initial system prompt.',
    evidence: 'reported',
    wording: (path: string) => `${path}: use the top-level 'system' parameter for the initial system prompt`,
  },
  'system-message-unsupported': {
    alias: 'A45',
    title: 'system messages stand among the messages only where the model takes them',
    fix: 'Use the top-level `system` parameter.',
    evidence: 'reported',
    wording: () =>
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
  },
  'system-message-misplaced': {
    alias: 'A46',
    title: 'a system message follows a user message, and is last or before an assistant message',
    fix: 'Put it directly after a user message, and last or before an assistant message.',
    evidence: 'documented',
    wording: (path: string) =>
      `${path}: a \`system\` message must directly follow a user message or a server tool result, and be last or be followed by an assistant message`,
  },
});

/** Block types that only one role can say. */
const roleOfBlock: ReadonlyMap<string, string> = new Map([
  ['tool_use', 'assistant'],
  ['server_tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
  ['tool_result', 'user'],
]);

/** Who speaks first and last, what each may say, and where system messages stand. */
export const anthropicRoles: RuleGroup<Request> = {
  rules,
  check: (request) => [
    ...checkFirst(request),
    ...request.messages.flatMap(checkBlockRoles),
    ...checkSystemMessages(request),
    ...checkLast(request),
  ],
};

function checkFirst({ messages }: Request): Violation[] {
  const first = messages[0];
  if (first?.index !== 0 || first.role !== 'assistant' || first.blocks[0]?.type === 'compaction') return [];
  return [report(rules['first-message-not-user'], first.path)];
}

/** One violation for each type of block, however many of them a message holds. */
function checkBlockRoles({ role, path, blocks }: Message): Violation[] {
  const misplaced = blocks.filter(({ type }) => (roleOfBlock.get(type) ?? role) !== role);
  const types = new Set(misplaced.map(({ type }) => type));
  return [...types].map((type) =>
    report(rules['block-in-wrong-role'], path, type, roleOfBlock.get(type) ?? ''),
  );
}

/** Consecutive system messages count as one. */
function checkSystemMessages({ messages, facts }: Request): Violation[] {
  return messages.flatMap((message, position) => {
    const before = messages[position - 1];
    if (message.role !== 'system' || before?.role === 'system') return [];
    if (message.index === 0) return [report(rules['system-message-first'], message.path)];
    if (!facts.takesSystemMessages) return [report(rules['system-message-unsupported'], message.path)];
    const isPlaced = mayPrecedeSystem(before) && mayFollowSystem(nextOther(messages, position));
    return isPlaced ? [] : [report(rules['system-message-misplaced'], message.path)];
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
  if (!facts.takesPrefill) return [report(rules['prefill-unsupported'], last.path)];
  const text = last.blocks.at(-1)?.type === 'text' ? readText(last.blocks.at(-1)?.value, 'text') : undefined;
  const isTrailing = text !== undefined && text.trim() !== '' && text !== text.trimEnd();
  return isTrailing ? [report(rules['prefill-ends-in-whitespace'], last.path)] : [];
}

/** A paused turn, a compaction stop or a fallback goes on without being a prefill; an open call is a fault of the pairing. */
function isContinuation({ blocks }: Message): boolean {
  return blocks.some(
    ({ type }) => isServerBlock(type) || type === 'compaction' || type === 'fallback' || type === 'tool_use',
  );
}

const contentRules = defineRules({
  'unsupported-content': {
    alias: 'A36',
    title: 'the API version takes the content',
    fix: 'Remove the content.',
    evidence: 'documented',
    wording: (path: string) => `${path}: not supported with this API version`,
  },
  'empty-content': {
    alias: 'A11',
    title: 'content is not empty',
    fix: 'Remove the message or give it content.',
    evidence: 'reported',
    wording: (path: string) =>
      `${path}: all messages must have non-empty content except for the optional final assistant message`,
  },
  'empty-text': {
    alias: 'A12',
    title: 'text is not empty',
    fix: 'Remove the empty text block.',
    evidence: 'reported',
    wording: (_path: string, place: string) => `${place}: text content blocks must be non-empty`,
  },
  'blank-text': {
    alias: 'A13',
    title: 'text is not blank',
    fix: 'Remove the blank text block.',
    evidence: 'reported',
    wording: (_path: string, place: string) =>
      `${place}: text content blocks must contain non-whitespace text`,
  },
  'cache-breakpoint-on-empty-text': {
    alias: 'A33',
    title: 'no breakpoint on empty text',
    fix: 'Remove the empty text block.',
    evidence: 'reported',
    wording: (path: string) => `${path}: cache_control cannot be set for empty text blocks`,
  },
});

/** What messages and text blocks hold: something, text that says something, allowed parts. */
export const anthropicContent: RuleGroup<Request> = {
  rules: contentRules,
  check: (request) => [
    ...checkSystemText(request),
    ...request.messages.flatMap((message) => [
      ...checkNotEmpty(message, request),
      ...message.blocks.flatMap((block) => checkText(block, 'messages')),
    ]),
    ...(isStrictVersion(request) ? request.messages.flatMap(checkStrictParts) : []),
  ],
};

function checkSystemText({ body, isWhole }: Request): Violation[] {
  if (!isWhole) return [];
  return readTypedList(read(body, 'system'), 'system').flatMap((block) => checkText(block, 'system'));
}

function checkNotEmpty(message: Message, { body }: Request): Violation[] {
  const held = read(message.value, 'content');
  const isEmpty = held === '' || (Array.isArray(held) && held.length === 0);
  if (!isEmpty) return [];
  const isLast = message.index === readList(body, 'messages').length - 1;
  return isLast && message.role === 'assistant' ? [] : [report(contentRules['empty-content'], message.path)];
}

function checkText(block: Block, place: 'messages' | 'system'): Violation[] {
  if (block.type !== 'text') return [];
  const text = readText(block.value, 'text');
  if (text === undefined || text.trim() !== '') return [];
  if (text !== '') return [report(contentRules['blank-text'], block.path, place)];
  if (!isGiven(read(block.value, 'cache_control')))
    return [report(contentRules['empty-text'], block.path, place)];
  return [
    report(
      contentRules['cache-breakpoint-on-empty-text'],
      place === 'system' ? block.path : `${block.path}.text`,
    ),
  ];
}

function checkStrictParts({ role, blocks }: Message): Violation[] {
  return blocks.flatMap((block) => {
    if (role === 'assistant' && block.type === 'document')
      return [report(contentRules['unsupported-content'], block.path)];
    const isCitedUserText =
      role === 'user' && block.type === 'text' && readList(block.value, 'citations').length > 0;
    return isCitedUserText
      ? [report(contentRules['unsupported-content'], `${block.path}.text.citations`)]
      : [];
  });
}
