import { type Finding, report } from '../finding.ts';
import { isGiven, isObject, type JsonObject, read, readText } from '../json-value.ts';
import { type ChatRequest, isOpenai, readCalls } from './request.ts';
import { chatRules } from './rules.ts';

const { wrongKindOfValue, missingField, unknownRole, noMessages, emptyToolCallList, missingContent } =
  chatRules;

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/** What lets an assistant message do without content; compatible servers also take a thought for it. */
const contentStandIns = ['function_call', 'refusal', 'audio'];
const vendorStandIns = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** Kinds and presence of what every message needs. */
export function checkShape(request: ChatRequest): readonly Finding[] {
  return [
    ...checkList(request),
    ...request.messages.flatMap((message, index) => checkMessage(message, index, request.vendor)),
  ];
}

function checkList({ body }: ChatRequest): readonly Finding[] {
  const messages = read(body, 'messages');
  const fault = { place: [], path: 'messages' };
  if (messages === undefined)
    return [report(missingField, { ...fault, message: missingField.wording.always('messages') })];
  if (!Array.isArray(messages)) {
    return [
      report(wrongKindOfValue, {
        ...fault,
        message: wrongKindOfValue.wording('messages', 'an array of objects', messages),
      }),
    ];
  }
  return messages.length === 0
    ? [report(noMessages, { ...fault, message: noMessages.wording('messages') })]
    : [];
}

function checkMessage(message: unknown, index: number, vendor: string | undefined): readonly Finding[] {
  const path = `messages[${index}]`;
  if (!isObject(message)) {
    return [
      report(wrongKindOfValue, {
        place: [index],
        path,
        message: wrongKindOfValue.wording(path, 'an object', message),
      }),
    ];
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
  const fault = { place: [index], path };
  if (role === undefined) {
    return report(missingField, { ...fault, message: missingField.wording.always(path) });
  }
  return typeof role === 'string'
    ? report(unknownRole, { ...fault, message: unknownRole.wording(role) })
    : report(wrongKindOfValue, { ...fault, message: wrongKindOfValue.wording(path, 'a string', role) });
}

function checkContent(message: JsonObject, index: number, vendor: string | undefined): readonly Finding[] {
  const content = read(message, 'content');
  if (!isGiven(content)) return mayLackContent(message, vendor) ? [] : [reportNoContent(index)];
  if (typeof content === 'string') return [];
  const path = `messages[${index}].content`;
  if (!Array.isArray(content)) {
    const text = wrongKindOfValue.wording(path, 'one of a string or array of objects', content);
    return [report(wrongKindOfValue, { place: [index, 0], path, message: text })];
  }
  return content.flatMap((part, position) => checkPart(part, `${path}[${position}]`, [index, 0, position]));
}

function mayLackContent(message: JsonObject, vendor: string | undefined): boolean {
  if (read(message, 'role') !== 'assistant') return false;
  // An empty list of calls is a fault already; its missing content is the same fault.
  if (Array.isArray(read(message, 'tool_calls'))) return true;
  const standIns = isOpenai(vendor) ? contentStandIns : [...contentStandIns, ...vendorStandIns];
  return standIns.some((field) => isGiven(read(message, field)));
}

function reportNoContent(index: number): Finding {
  return report(missingContent, {
    place: [index, 0],
    path: `messages.[${index}].content`,
    message: missingContent.wording(),
  });
}

function checkPart(part: unknown, path: string, place: readonly number[]): readonly Finding[] {
  if (!isObject(part)) {
    return [
      report(wrongKindOfValue, { place, path, message: wrongKindOfValue.wording(path, 'an object', part) }),
    ];
  }
  if (readText(part, 'type') !== undefined) return [];
  return [
    report(missingField, {
      place,
      path: `${path}.type`,
      message: missingField.wording.always(`${path}.type`),
    }),
  ];
}

function checkCallList(message: JsonObject, index: number): readonly Finding[] {
  const calls = read(message, 'tool_calls');
  const path = `messages[${index}].tool_calls`;
  if (!isGiven(calls) || read(message, 'role') !== 'assistant') return [];
  if (!Array.isArray(calls)) {
    const text = wrongKindOfValue.wording(path, 'an array of objects', calls);
    return [report(wrongKindOfValue, { place: [index, 1], path, message: text })];
  }
  return calls.length === 0
    ? [report(emptyToolCallList, { place: [index, 1], path, message: emptyToolCallList.wording(path) })]
    : [];
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
    return [
      report(wrongKindOfValue, { place, path, message: wrongKindOfValue.wording(path, 'an object', call) }),
    ];
  }
  const id = read(call, 'id');
  const inputs = inputFields.flatMap(({ container, field }) => {
    const input = read(read(call, container), field);
    const inputPath = `${path}.${container}.${field}`;
    if (input === undefined || typeof input === 'string') return [];
    return [
      report(wrongKindOfValue, {
        place,
        path: inputPath,
        message: wrongKindOfValue.wording(inputPath, 'a string', input),
      }),
    ];
  });
  if (typeof id === 'string') return inputs;
  const idPath = `${path}.id`;
  const fault = isGiven(id)
    ? report(wrongKindOfValue, {
        place,
        path: idPath,
        message: wrongKindOfValue.wording(idPath, 'a string', id),
      })
    : report(missingField, { place, path: idPath, message: missingField.wording.always(idPath) });
  return [fault, ...inputs];
}

function checkFunctionName(message: JsonObject, index: number): readonly Finding[] {
  if (read(message, 'role') !== 'function' || readText(message, 'name') !== undefined) return [];
  const path = `messages.[${index}].name`;
  return [
    report(missingField, {
      place: [index, 2],
      path,
      message: missingField.wording.ofRole('function', 'name'),
    }),
  ];
}
