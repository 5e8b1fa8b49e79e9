import type { Violation } from '../contract.ts';
import { isGiven, isObject, type JsonObject, read, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type ChatRequest, isOpenai, readCalls, valueRules } from './request.ts';

const emptyList = (path: string) =>
  `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;

const rules = defineRules({
  'unknown-role': {
    alias: 'C0',
    title: 'the role is one the API knows',
    fix: 'Use one of the roles the API knows.',
    evidence: 'reported',
    wording: (_path: string, role: string) =>
      `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
  },
  'no-messages': {
    alias: 'C3',
    title: 'there is at least one message',
    fix: 'Send at least one message.',
    evidence: 'reported',
    wording: emptyList,
  },
  'empty-tool-call-list': {
    alias: 'C3',
    title: 'a list of calls is not empty',
    fix: 'Leave tool_calls out of a message that calls nothing.',
    evidence: 'reported',
    wording: emptyList,
  },
  'missing-content': {
    alias: 'C7',
    title: 'only an assistant message that calls a tool may have no content',
    fix: 'Give the message a content, if only an empty string.',
    evidence: 'reported',
    wording: () => "Invalid value for 'content': expected a string, got null.",
  },
});

/** Kinds and presence of what every message needs. */
export const chatShape: RuleGroup<ChatRequest> = {
  rules: { ...valueRules, ...rules },
  check: (request) => [
    ...checkList(request),
    ...request.messages.flatMap((message, index) => checkMessage(message, index, request.vendor)),
  ],
};

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/** What lets an assistant message do without content; compatible servers also take a thought for it. */
const contentStandIns = ['function_call', 'refusal', 'audio'];
const vendorStandIns = ['reasoning_content', 'reasoning', 'reasoning_details'];

function checkList({ body }: ChatRequest): readonly Violation[] {
  const messages = read(body, 'messages');
  if (messages === undefined) return [missing('messages')];
  if (!Array.isArray(messages)) return [wrongKind('messages', 'an array of objects', messages)];
  return messages.length === 0 ? [report(rules['no-messages'], 'messages')] : [];
}

function checkMessage(message: unknown, index: number, vendor: string | undefined): readonly Violation[] {
  const path = `messages[${index}]`;
  if (!isObject(message)) return [wrongKind(path, 'an object', message)];
  const role = read(message, 'role');
  if (role === undefined) return [missing(`${path}.role`)];
  if (typeof role !== 'string') return [wrongKind(`${path}.role`, 'a string', role)];
  if (!roles.has(role)) return [report(rules['unknown-role'], `${path}.role`, role)];
  return [
    ...checkContent(message, index, vendor),
    ...checkCallList(message, `${path}.tool_calls`),
    ...readCalls(message).flatMap((call, position) => checkCall(call, `${path}.tool_calls[${position}]`)),
    ...checkFunctionName(message, index),
  ];
}

function checkContent(message: JsonObject, index: number, vendor: string | undefined): readonly Violation[] {
  const content = read(message, 'content');
  if (!isGiven(content)) {
    const isFine = mayLackContent(message, vendor);
    return isFine ? [] : [report(rules['missing-content'], `messages.[${index}].content`)];
  }
  if (typeof content === 'string') return [];
  const path = `messages[${index}].content`;
  if (!Array.isArray(content)) return [wrongKind(path, 'one of a string or array of objects', content)];
  return content.flatMap((part, position) => checkPart(part, `${path}[${position}]`));
}

function mayLackContent(message: JsonObject, vendor: string | undefined): boolean {
  if (read(message, 'role') !== 'assistant') return false;
  // An empty list of calls is a fault already; its missing content is the same fault.
  if (Array.isArray(read(message, 'tool_calls'))) return true;
  const standIns = isOpenai(vendor) ? contentStandIns : [...contentStandIns, ...vendorStandIns];
  return standIns.some((field) => isGiven(read(message, field)));
}

function checkPart(part: unknown, path: string): readonly Violation[] {
  if (!isObject(part)) return [wrongKind(path, 'an object', part)];
  return readText(part, 'type') === undefined ? [missing(`${path}.type`)] : [];
}

function checkCallList(message: JsonObject, path: string): readonly Violation[] {
  const calls = read(message, 'tool_calls');
  if (!isGiven(calls) || read(message, 'role') !== 'assistant') return [];
  if (!Array.isArray(calls)) return [wrongKind(path, 'an array of objects', calls)];
  return calls.length === 0 ? [report(rules['empty-tool-call-list'], path)] : [];
}

/** Where a call keeps its input, by type; both must be texts. */
const inputFields = [
  { container: 'function', field: 'arguments' },
  { container: 'custom', field: 'input' },
];

function checkCall(call: unknown, path: string): readonly Violation[] {
  if (!isObject(call)) return [wrongKind(path, 'an object', call)];
  return [
    ...checkCallId(read(call, 'id'), `${path}.id`),
    ...inputFields.flatMap(({ container, field }) => {
      const input = read(read(call, container), field);
      const isFine = input === undefined || typeof input === 'string';
      return isFine ? [] : [wrongKind(`${path}.${container}.${field}`, 'a string', input)];
    }),
  ];
}

function checkCallId(id: unknown, path: string): readonly Violation[] {
  if (typeof id === 'string') return [];
  return [isGiven(id) ? wrongKind(path, 'a string', id) : missing(path)];
}

function checkFunctionName(message: JsonObject, index: number): readonly Violation[] {
  if (read(message, 'role') !== 'function' || readText(message, 'name') !== undefined) return [];
  const needed = { field: 'name', byRole: 'function' };
  return [report(valueRules['missing-field'], `messages.[${index}].name`, needed)];
}

function wrongKind(path: string, expected: string, value: unknown): Violation {
  return report(valueRules['wrong-kind-of-value'], path, expected, value);
}

function missing(path: string): Violation {
  return report(valueRules['missing-field'], path);
}
