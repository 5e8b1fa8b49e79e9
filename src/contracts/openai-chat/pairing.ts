import type { Violation } from '../contract.ts';
import { read, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import { type ChatRequest, readCalls, valueRules } from './request.ts';

/** How servers other than OpenAI's say that a call has no answer; some name the message that stands where one should. */
const unansweredWordings = new Map<string, (index: number) => string>([
  [
    'deepseek',
    () =>
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  ],
  [
    'qwen',
    (index) =>
      `<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[${index}].role`,
  ],
]);

const orphanWordings = new Map<string, string>([
  ['deepseek', "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"],
  [
    'qwen',
    '<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a response to a preceeding message with "tool_calls".',
  ],
]);

const pairingRules = defineRules({
  'tool-call-without-result': {
    alias: 'C1',
    title: 'tool messages answer every call directly after the assistant message',
    fix: 'Put one tool message per call directly after the assistant message, or remove the call.',
    evidence: 'reported',
    wording: (_path: string, ids: readonly string[], index: number, vendor = '') =>
      unansweredWordings.get(vendor)?.(index) ??
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
  },
  'tool-result-without-call': {
    alias: 'C2',
    title: 'a tool message answers a call of the assistant message before it',
    fix: 'Restore the assistant message that made the call, or remove the tool message.',
    evidence: 'reported',
    wording: (_path: string, vendor = '', unknownId?: string) =>
      orphanWordings.get(vendor) ??
      (unknownId === undefined
        ? "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        : `Invalid parameter: 'tool_call_id' of '${unknownId}' not found in 'tool_calls' of previous message.`),
  },
  'duplicate-tool-result': {
    alias: 'C9',
    title: 'every call is answered once',
    fix: 'Keep one tool message per call and remove the others.',
    evidence: 'reported',
    wording: (_path: string, id: string, first: number, second: number) =>
      `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${second}].`,
  },
});

/** The calls of the assistant message that the list is still answering. */
interface OpenCalls {
  readonly index: number;
  /** How many answers each id still awaits; more than one when a model repeats an id. */
  readonly awaited: Map<string, number>;
  /** Where each id was answered last. */
  readonly answered: Map<string, number>;
  /** Tool messages without an id: each may be the answer to any call. */
  unnamedAnswers: number;
}

/**
 * Calls and their answers in one pass. Answers may come in any order, but nothing may stand between them and the
 * assistant message. Mistral counts instead of looking at ids and has its own group.
 */
export const chatPairing: RuleGroup<ChatRequest> = { rules: pairingRules, check: checkPairing };

function checkPairing({ messages, vendor }: ChatRequest): readonly Violation[] {
  if (vendor === 'mistral') return [];
  const violations: Violation[] = [];
  let open: OpenCalls | undefined;
  for (const [index, message] of messages.entries()) {
    if (read(message, 'role') === 'tool') {
      violations.push(...answer(open, message, index, vendor));
    } else {
      violations.push(...close(open, index, `messages.[${index}].role`, vendor));
      open = openCalls(message, index);
    }
  }
  return [...violations, ...close(open, messages.length, 'messages', vendor)];
}

function openCalls(message: unknown, index: number): OpenCalls | undefined {
  const calls = readCalls(message);
  if (calls.length === 0) return undefined;
  const awaited = new Map<string, number>();
  for (const call of calls) {
    const id = readText(call, 'id');
    if (id !== undefined) awaited.set(id, (awaited.get(id) ?? 0) + 1);
  }
  return { index, awaited, answered: new Map(), unnamedAnswers: 0 };
}

function answer(
  open: OpenCalls | undefined,
  message: unknown,
  index: number,
  vendor: string | undefined,
): readonly Violation[] {
  const path = `messages.[${index}]`;
  if (open === undefined) return [report(pairingRules['tool-result-without-call'], `${path}.role`, vendor)];
  const idPath = `${path}.tool_call_id`;
  const id = readText(message, 'tool_call_id');
  if (id === undefined) {
    open.unnamedAnswers += 1;
    return [report(valueRules['missing-field'], idPath, { field: 'tool_call_id', byRole: 'tool' })];
  }
  const awaited = open.awaited.get(id) ?? 0;
  if (awaited > 0) {
    open.awaited.set(id, awaited - 1);
    open.answered.set(id, index);
    return [];
  }
  const earlier = open.answered.get(id);
  return [
    earlier === undefined
      ? report(pairingRules['tool-result-without-call'], idPath, vendor, id)
      : report(pairingRules['duplicate-tool-result'], idPath, id, earlier, index),
  ];
}

/** Reports what is unanswered where the next message, or the end of the list, closes the run of answers. */
function close(
  open: OpenCalls | undefined,
  index: number,
  path: string,
  vendor: string | undefined,
): readonly Violation[] {
  if (open === undefined) return [];
  const ids = [...open.awaited].filter(([, count]) => count > 0).map(([id]) => id);
  if (ids.length <= open.unnamedAnswers) return [];
  return [
    {
      ...report(pairingRules['tool-call-without-result'], path, ids, index, vendor),
      fix: `Answer ${ids.join(', ')} directly after messages[${open.index}], or remove the call.`,
    },
  ];
}

const mistralRules = defineRules({
  'role-out-of-order': {
    alias: 'mistral-3230',
    title: 'Mistral: roles follow in the order the validator knows',
    fix: 'Let an assistant message follow the tool messages, and a user message follow the system message.',
    evidence: 'server-source',
    wording: (_path: string, role: string, previous: string) =>
      `Unexpected role '${role}' after role '${previous}'`,
  },
  'tool-results-miscounted': {
    alias: 'mistral-3230',
    title: 'Mistral: there are as many tool messages as calls',
    fix: 'Put one tool message per call directly after the assistant message, or remove the calls.',
    evidence: 'server-source',
    wording: () => 'Not the same number of function calls and responses',
  },
  'assistant-message-last': {
    alias: 'mistral-3230',
    title: 'Mistral: a request ends with a user or tool message, or with a prefix',
    fix: 'End with a user or tool message, or set prefix on the final assistant message.',
    evidence: 'server-source',
    wording: () =>
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  },
  'malformed-tool-call-id': {
    alias: 'mistral-3280',
    title: 'Mistral: call ids are 9 letters and digits',
    fix: 'Map the call id to 9 letters and digits, in the call and in its answer.',
    evidence: 'server-source',
    wording: (_path: string, id: string) =>
      `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
  },
});

/** Mistral's order and id rules (error codes 3230 and 3280). Says nothing about other vendors. */
export const mistralOrder: RuleGroup<ChatRequest> = {
  rules: mistralRules,
  check: (request) =>
    request.vendor === 'mistral'
      ? [...checkOrder(request), ...checkCounts(request), ...checkCallIds(request)]
      : [],
};

// The request validator of mistral-common names the roles that may follow each role.
const followers = new Map<string, ReadonlySet<string>>([
  ['system', new Set(['user', 'assistant', 'system'])],
  ['user', new Set(['assistant', 'system', 'user'])],
  ['assistant', new Set(['assistant', 'user', 'tool'])],
  ['tool', new Set(['assistant', 'tool'])],
]);

const callIdPattern = /^[a-zA-Z0-9]{9}$/;

function checkOrder({ messages, hasFrame }: ChatRequest): readonly Violation[] {
  const roles = messages.map((message) => readText(message, 'role') ?? '');
  const violations = roles.flatMap((role, index) => {
    const previous = roles[index - 1] ?? '';
    const allowed = followers.get(previous);
    if (allowed === undefined || allowed.has(role) || !followers.has(role)) return [];
    return [report(mistralRules['role-out-of-order'], `messages[${index}]`, role, previous)];
  });
  const last = messages.at(-1);
  const isAnswer = hasFrame && read(last, 'role') === 'assistant' && read(last, 'prefix') !== true;
  // Open calls at the end are counted as unanswered already.
  if (!isAnswer || readCalls(last).length > 0) return violations;
  return [...violations, report(mistralRules['assistant-message-last'], `messages[${messages.length - 1}]`)];
}

/** Counts the tool messages between two assistant messages; ids do not matter here. */
function checkCounts({ messages }: ChatRequest): readonly Violation[] {
  const violations: Violation[] = [];
  let caller = 0;
  let missing = 0;
  const judge = (): void => {
    if (missing !== 0)
      violations.push(report(mistralRules['tool-results-miscounted'], `messages[${caller}]`));
  };
  for (const [index, message] of messages.entries()) {
    const role = read(message, 'role');
    if (role === 'tool') missing -= 1;
    if (role !== 'assistant') continue;
    judge();
    caller = index;
    missing = readCalls(message).length;
  }
  judge();
  return violations;
}

/** An odd id is one fault, reported at the call; its answer only repeats it. */
function checkCallIds({ messages }: ChatRequest): readonly Violation[] {
  const odd = new Set<string>();
  const judge = (id: string | undefined, path: string): readonly Violation[] => {
    if (id === undefined || callIdPattern.test(id) || odd.has(id)) return [];
    odd.add(id);
    return [report(mistralRules['malformed-tool-call-id'], path, id)];
  };
  return messages.flatMap((message, index) => [
    ...readCalls(message).flatMap((call, position) =>
      judge(readText(call, 'id'), `messages[${index}].tool_calls[${position}].id`),
    ),
    ...judge(readText(message, 'tool_call_id'), `messages[${index}].tool_call_id`),
  ]);
}
