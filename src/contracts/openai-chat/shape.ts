import type { Finding } from '../finding.ts';
import { isGiven, isObject, type JsonObject, read, readText } from '../json-value.ts';
import { type ChatRequest, isOpenai, readCalls } from './request.ts';
import { chatRules, report } from './rules.ts';

const { C0, C3, C7 } = chatRules;

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/** What lets an assistant message do without content; compatible servers also take a thought for it. */
const contentStandIns = ['function_call', 'refusal', 'audio'];
const vendorStandIns = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** C0, C3 and C7: types and presence of what every message needs. */
export function checkShape(request: ChatRequest): readonly Finding[] {
  return [
    ...checkList(request),
    ...request.messages.flatMap((message, index) => checkMessage(message, index, request.vendor)),
  ];
}

function checkList({ body }: ChatRequest): readonly Finding[] {
  const messages = read(body, 'messages');
  const fault = { place: [], path: 'messages' };
  if (messages === undefined) return [report('C0', { ...fault, message: C0.wording.missing('messages') })];
  if (!Array.isArray(messages)) {
    return [
      report('C0', { ...fault, message: C0.wording.type('messages', 'an array of objects', messages) }),
    ];
  }
  return messages.length === 0 ? [report('C3', { ...fault, message: C3.wording('messages') })] : [];
}

function checkMessage(message: unknown, index: number, vendor: string | undefined): readonly Finding[] {
  const path = `messages[${index}]`;
  if (!isObject(message)) {
    return [report('C0', { place: [index], path, message: C0.wording.type(path, 'an object', message) })];
  }
  const role = read(message, 'role');
  if (typeof role !== 'string' || !roles.has(role)) return [reportRole(role, index)];
  return [
    ...checkContent(message, index, vendor),
    ...checkCallList(message, index),
    ...readCalls(message).flatMap((call, position) => checkCall(call, index, position)),
    ...checkFunctionName(message, index),
  ];
}

function reportRole(role: unknown, index: number): Finding {
  const path = `messages[${index}].role`;
  const message =
    role === undefined
      ? C0.wording.missing(path)
      : typeof role === 'string'
        ? C0.wording.role(role)
        : C0.wording.type(path, 'a string', role);
  return report('C0', { place: [index], path, message });
}

function checkContent(message: JsonObject, index: number, vendor: string | undefined): readonly Finding[] {
  const content = read(message, 'content');
  if (!isGiven(content)) return mayLackContent(message, vendor) ? [] : [reportNoContent(index)];
  if (typeof content === 'string') return [];
  const path = `messages[${index}].content`;
  if (!Array.isArray(content)) {
    const text = C0.wording.type(path, 'one of a string or array of objects', content);
    return [report('C0', { place: [index, 0], path, message: text })];
  }
  return content.flatMap((part, position) => checkPart(part, `${path}[${position}]`, [index, 0, position]));
}

function mayLackContent(message: JsonObject, vendor: string | undefined): boolean {
  if (read(message, 'role') !== 'assistant') return false;
  // An empty list of calls is C3 already; its missing content is the same fault.
  if (Array.isArray(read(message, 'tool_calls'))) return true;
  const standIns = isOpenai(vendor) ? contentStandIns : [...contentStandIns, ...vendorStandIns];
  return standIns.some((field) => isGiven(read(message, field)));
}

function reportNoContent(index: number): Finding {
  return report('C7', {
    place: [index, 0],
    path: `messages.[${index}].content`,
    message: C7.wording(),
  });
}

function checkPart(part: unknown, path: string, place: readonly number[]): readonly Finding[] {
  if (!isObject(part)) {
    return [report('C0', { place, path, message: C0.wording.type(path, 'an object', part) })];
  }
  if (readText(part, 'type') !== undefined) return [];
  return [report('C0', { place, path: `${path}.type`, message: C0.wording.missing(`${path}.type`) })];
}

function checkCallList(message: JsonObject, index: number): readonly Finding[] {
  const calls = read(message, 'tool_calls');
  const path = `messages[${index}].tool_calls`;
  if (!isGiven(calls) || read(message, 'role') !== 'assistant') return [];
  if (!Array.isArray(calls)) {
    const text = C0.wording.type(path, 'an array of objects', calls);
    return [report('C0', { place: [index, 1], path, message: text })];
  }
  return calls.length === 0 ? [report('C3', { place: [index, 1], path, message: C3.wording(path) })] : [];
}

/** Where a call keeps its input, by type; both must be texts. */
const inputFields = [
  { container: 'function', field: 'arguments' },
  { container: 'custom', field: 'input' },
];

function checkCall(call: unknown, index: number, position: number): readonly Finding[] {
  const path = `messages[${index}].tool_calls[${position}]`;
  const place = [index, 1, position];
  if (!isObject(call)) {
    return [report('C0', { place, path, message: C0.wording.type(path, 'an object', call) })];
  }
  const id = read(call, 'id');
  const inputs = inputFields.flatMap(({ container, field }) => {
    const input = read(read(call, container), field);
    const inputPath = `${path}.${container}.${field}`;
    if (input === undefined || typeof input === 'string') return [];
    return [report('C0', { place, path: inputPath, message: C0.wording.type(inputPath, 'a string', input) })];
  });
  if (typeof id === 'string') return inputs;
  const text = isGiven(id) ? C0.wording.type(`${path}.id`, 'a string', id) : C0.wording.missing(`${path}.id`);
  return [report('C0', { place, path: `${path}.id`, message: text }), ...inputs];
}

function checkFunctionName(message: JsonObject, index: number): readonly Finding[] {
  if (read(message, 'role') !== 'function' || readText(message, 'name') !== undefined) return [];
  const path = `messages.[${index}].name`;
  return [report('C0', { place: [index, 2], path, message: C0.wording.companion('function', 'name') })];
}
