import type { Violation } from '../contract.ts';
import { isObject, type JsonObject, read, readList, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import type { Request } from './request.ts';
import { checkKind, checkOptional, checkRequired, isOfKind, type Kind, valueRules } from './values.ts';

const rules = defineRules({
  'no-messages': {
    alias: 'A1',
    title: 'there is at least one message',
    fix: 'Send at least one user message.',
    evidence: 'inferred',
    wording: () => 'messages: at least one message is required',
  },
  'unknown-role': {
    alias: 'A3',
    title: 'the role is one the API knows',
    fix: 'Use one of the roles the API knows.',
    evidence: 'reported',
    wording: (path: string, takesSystemMessages: boolean) =>
      `${path}: Input should be ${takesSystemMessages ? "'user', 'assistant' or 'system'" : "'user' or 'assistant'"}`,
  },
  'too-many-messages': {
    alias: 'A8',
    title: 'at most 100,000 messages',
    fix: 'Send fewer messages.',
    evidence: 'documented',
    wording: (path: string, count: number) =>
      `${path}: List should have at most 100000 items after validation, not ${count}`,
  },
  'thinking-signature-missing': {
    alias: 'A39',
    title: 'thinking has its signature',
    fix: 'Keep the signature, or remove the whole block.',
    evidence: 'reported',
    wording: (path: string) => `${path}: Field required`,
  },
  'malformed-tool-call-id': {
    alias: 'A49',
    title: 'call ids have a pattern',
    fix: 'Use letters, digits, underscores and hyphens only.',
    evidence: 'types',
    wording: (path: string) => `${path}: String should match pattern '^[a-zA-Z0-9_-]+$'`,
  },
});

const maxMessages = 100_000;

const roles: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['user', new Set(['role', 'content'])],
  ['assistant', new Set(['role', 'content'])],
  ['system', new Set(['role', 'content', 'clear_at', 'output_config'])],
]);

const call: readonly (readonly [string, Kind])[] = [
  ['id', 'string'],
  ['name', 'string'],
  ['input', 'object'],
];
const serverResult: readonly (readonly [string, Kind])[] = [
  ['tool_use_id', 'string'],
  ['content', 'anything'],
];

/** Required fields by block type. Types that are not listed are passed on unseen: the API grows faster than lists. */
const blockFields: ReadonlyMap<string, readonly (readonly [string, Kind])[]> = new Map([
  ['text', [['text', 'string']]],
  ['image', [['source', 'object']]],
  ['document', [['source', 'object']]],
  ['thinking', [['thinking', 'string']]],
  ['redacted_thinking', [['data', 'string']]],
  ['tool_use', call],
  ['tool_result', [['tool_use_id', 'string']]],
  ['server_tool_use', call],
  ['mcp_tool_use', [...call, ['server_name', 'string']]],
  ['mcp_tool_result', [['tool_use_id', 'string']]],
  ['web_search_tool_result', serverResult],
  ['web_fetch_tool_result', serverResult],
  ['code_execution_tool_result', serverResult],
  ['bash_code_execution_tool_result', serverResult],
  ['text_editor_code_execution_tool_result', serverResult],
  ['tool_search_tool_result', serverResult],
  ['advisor_tool_result', serverResult],
  ['container_upload', [['file_id', 'string']]],
]);

const callTypes: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use']);
const callId = /^[a-zA-Z0-9_-]+$/;

/** The message list and its blocks: there, of the right kind, and nothing else. */
export const anthropicShape: RuleGroup<Request> = { rules: { ...valueRules, ...rules }, check: checkShape };

function checkShape(request: Request): readonly Violation[] {
  const listFaults = checkRequired(request.body, 'messages', 'list', 'messages');
  if (listFaults.length > 0) return listFaults;
  const messages = readList(request.body, 'messages');
  if (messages.length === 0) return [report(rules['no-messages'], 'messages')];
  return [
    ...(messages.length > maxMessages
      ? [report(rules['too-many-messages'], 'messages', messages.length)]
      : []),
    ...messages.flatMap((message, index) => checkMessage(message, `messages.${index}`, request)),
  ];
}

function checkMessage(message: unknown, path: string, request: Request): readonly Violation[] {
  if (!isObject(message)) return checkKind(message, 'object', path);
  return [
    ...checkRole(message, path, request),
    ...checkRequired(message, 'content', 'text or list', `${path}.content`),
    ...readList(message, 'content').flatMap((block, index) => checkBlock(block, `${path}.content.${index}`)),
  ];
}

function checkRole(message: JsonObject, path: string, { isWhole, facts }: Request): Violation[] {
  const role = read(message, 'role');
  if (role === undefined) return [report(valueRules['missing-field'], `${path}.role`)];
  const known = typeof role === 'string' ? roles.get(role) : undefined;
  if (known === undefined) return [report(rules['unknown-role'], `${path}.role`, facts.takesSystemMessages)];
  // A message list from elsewhere may carry its keeper's own notes; only in a request do they reach the API.
  if (!isWhole) return [];
  return Object.keys(message)
    .filter((name) => !known.has(name))
    .map((name) => report(valueRules['unknown-field'], `${path}.${name}`));
}

function checkBlock(block: unknown, path: string): readonly Violation[] {
  const fieldFaults = checkBlockFields(block, path);
  if (!isObject(block)) return fieldFaults;
  const type = readText(block, 'type') ?? '';
  return [
    ...fieldFaults,
    ...checkCallId(block, type, path),
    ...(type === 'thinking' ? checkSignature(block, path) : []),
    ...(type === 'tool_result' ? checkResultContent(block, `${path}.tool_result.content`) : []),
  ];
}

function checkBlockFields(block: unknown, path: string): readonly Violation[] {
  if (!isObject(block)) return checkKind(block, 'object', path);
  const type = read(block, 'type');
  if (typeof type !== 'string') return checkRequired(block, 'type', 'string', `${path}.type`);
  // Sound blocks are the rule: their paths are not worth building.
  const unsound = blockFields.get(type)?.filter(([name, kind]) => !isOfKind(read(block, name), kind)) ?? [];
  return unsound.flatMap(([name, kind]) => checkRequired(block, name, kind, `${path}.${type}.${name}`));
}

function checkCallId(block: JsonObject, type: string, path: string): readonly Violation[] {
  const id = callTypes.has(type) ? readText(block, 'id') : undefined;
  return id === undefined || callId.test(id)
    ? []
    : [report(rules['malformed-tool-call-id'], `${path}.${type}.id`)];
}

function checkSignature(block: JsonObject, path: string): readonly Violation[] {
  const signaturePath = `${path}.thinking.signature`;
  const signature = read(block, 'signature');
  return signature === undefined
    ? [report(rules['thinking-signature-missing'], signaturePath)]
    : checkKind(signature, 'string', signaturePath);
}

function checkResultContent(result: JsonObject, path: string): readonly Violation[] {
  const kindFaults = checkOptional(result, 'content', 'text or list', path);
  if (kindFaults.length > 0) return kindFaults;
  return readList(result, 'content').flatMap((block, index) => checkBlockFields(block, `${path}.${index}`));
}
