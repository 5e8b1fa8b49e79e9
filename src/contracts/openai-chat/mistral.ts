import { type Finding, type RuleRow, report } from '../finding.ts';
import { read, readText } from '../json-value.ts';
import { type ChatRequest, readCalls } from './request.ts';
import { chatRules } from './rules.ts';

const { roleOutOfOrder, toolResultsMiscounted, assistantMessageLast, malformedToolCallId } = chatRules;

// The request validator of mistral-common names the roles that may follow each role.
const followers = new Map<string, ReadonlySet<string>>([
  ['system', new Set(['user', 'assistant', 'system'])],
  ['user', new Set(['assistant', 'system', 'user'])],
  ['assistant', new Set(['assistant', 'user', 'tool'])],
  ['tool', new Set(['assistant', 'tool'])],
]);

const callIdPattern = /^[a-zA-Z0-9]{9}$/;

/** Mistral's order and id rules (error codes 3230 and 3280). Does nothing for other vendors. */
export function checkMistral(request: ChatRequest): readonly Finding[] {
  if (request.vendor !== 'mistral') return [];
  return [...checkOrder(request), ...checkCounts(request), ...checkCallIds(request)];
}

function checkOrder({ messages, hasFrame }: ChatRequest): readonly Finding[] {
  const roles = messages.map((message) => readText(message, 'role') ?? '');
  const findings = roles.flatMap((role, index) => {
    const previous = roles[index - 1] ?? '';
    const allowed = followers.get(previous);
    if (allowed === undefined || allowed.has(role) || !followers.has(role)) return [];
    return [reportAt(index, roleOutOfOrder, roleOutOfOrder.wording(role, previous))];
  });
  const last = messages.at(-1);
  const isAnswer = hasFrame && read(last, 'role') === 'assistant' && read(last, 'prefix') !== true;
  // Open calls at the end are counted as unanswered already.
  if (isAnswer && readCalls(last).length === 0) {
    findings.push(
      reportAt(messages.length - 1, assistantMessageLast, assistantMessageLast.wording('assistant')),
    );
  }
  return findings;
}

/** Counts the tool messages between two assistant messages; ids do not matter here. */
function checkCounts({ messages }: ChatRequest): readonly Finding[] {
  const findings: Finding[] = [];
  let caller = 0;
  let missing = 0;
  for (const [index, message] of messages.entries()) {
    const role = read(message, 'role');
    if (role === 'tool') missing -= 1;
    if (role !== 'assistant') continue;
    if (missing !== 0)
      findings.push(reportAt(caller, toolResultsMiscounted, toolResultsMiscounted.wording()));
    caller = index;
    missing = readCalls(message).length;
  }
  if (missing !== 0) findings.push(reportAt(caller, toolResultsMiscounted, toolResultsMiscounted.wording()));
  return findings;
}

function reportAt(index: number, rule: RuleRow, message: string): Finding {
  return report(rule, { place: [index], path: `messages[${index}]`, message });
}

/** An odd id is one fault, reported at the call; its answer only repeats it. */
function checkCallIds({ messages }: ChatRequest): readonly Finding[] {
  const odd = new Set<string>();
  const judge = (id: string | undefined, path: string, place: readonly number[]): readonly Finding[] => {
    if (id === undefined || callIdPattern.test(id) || odd.has(id)) return [];
    odd.add(id);
    return [report(malformedToolCallId, { place, path, message: malformedToolCallId.wording(id) })];
  };
  return messages.flatMap((message, index) => [
    ...readCalls(message).flatMap((call, position) =>
      judge(readText(call, 'id'), `messages[${index}].tool_calls[${position}].id`, [index, 1, position]),
    ),
    ...judge(readText(message, 'tool_call_id'), `messages[${index}].tool_call_id`, [index]),
  ]);
}
