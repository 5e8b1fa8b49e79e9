import { type Finding, report } from '../finding.ts';
import { read, readText } from '../json-value.ts';
import { type ChatRequest, readCalls } from './request.ts';
import { chatRules } from './rules.ts';

const { missingField, toolCallWithoutResult, toolResultWithoutCall, duplicateToolResult } = chatRules;

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
 * assistant message. Mistral counts instead of looking at ids and has its own check.
 */
export function checkPairing({ messages, vendor }: ChatRequest): readonly Finding[] {
  if (vendor === 'mistral') return [];
  const findings: Finding[] = [];
  let open: OpenCalls | undefined;
  for (const [index, message] of messages.entries()) {
    if (read(message, 'role') === 'tool') {
      findings.push(...answer(open, message, index, vendor));
    } else {
      findings.push(...close(open, index, messages.length, vendor));
      open = openCalls(message, index);
    }
  }
  findings.push(...close(open, messages.length, messages.length, vendor));
  return findings;
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
): readonly Finding[] {
  const rolePath = `messages.[${index}].role`;
  const idPath = `messages.[${index}].tool_call_id`;
  if (open === undefined) {
    return [
      report(toolResultWithoutCall, {
        place: [index],
        path: rolePath,
        message: toolResultWithoutCall.wording.noCalls(vendor),
      }),
    ];
  }
  const id = readText(message, 'tool_call_id');
  if (id === undefined) {
    open.unnamedAnswers += 1;
    return [
      report(missingField, {
        place: [index],
        path: idPath,
        message: missingField.wording.ofRole('tool', 'tool_call_id'),
      }),
    ];
  }
  const awaited = open.awaited.get(id);
  if (awaited !== undefined && awaited > 0) {
    open.awaited.set(id, awaited - 1);
    open.answered.set(id, index);
    return [];
  }
  const earlier = open.answered.get(id);
  if (earlier !== undefined) {
    return [
      report(duplicateToolResult, {
        place: [index],
        path: idPath,
        message: duplicateToolResult.wording(id, earlier, index),
      }),
    ];
  }
  return [
    report(toolResultWithoutCall, {
      place: [index],
      path: idPath,
      message: toolResultWithoutCall.wording.otherCalls(id, vendor),
    }),
  ];
}

/** Reports what is unanswered where the next message, or the end of the list, closes the run of answers. */
function close(
  open: OpenCalls | undefined,
  index: number,
  length: number,
  vendor: string | undefined,
): readonly Finding[] {
  if (open === undefined) return [];
  const ids = [...open.awaited].filter(([, count]) => count > 0).map(([id]) => id);
  if (ids.length <= open.unnamedAnswers) return [];
  return [
    report(toolCallWithoutResult, {
      place: [index],
      path: index < length ? `messages.[${index}].role` : 'messages',
      message: toolCallWithoutResult.wording({ ids, index }, vendor),
      fix: `Answer ${ids.join(', ')} directly after messages[${open.index}], or remove the call.`,
    }),
  ];
}
