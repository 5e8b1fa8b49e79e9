import type { Violation } from '../contract.ts';
import { isGiven, read, readText } from '../json-value.ts';
import type { Block, Check, Message, Request } from './request.ts';
import { rules } from './rules.ts';
import { report } from './worded-rule.ts';

/** Assistant messages without a user message between them, and the user message that answers them. */
interface Exchange {
  readonly run: readonly Message[];
  readonly answer: Message | undefined;
}

/** Ids of blocks that stand in the wrong role: their one fault is the role, not a missing partner. */
interface Misplaced {
  readonly calls: ReadonlySet<string>;
  readonly results: ReadonlySet<string>;
}

/** Tool calls and their results, on the list as sent. */
export const checkPairing: Check = (request) => {
  const misplaced = findMisplaced(request);
  return [
    ...checkUniqueIds(request),
    ...exchangesOf(request).flatMap((exchange) => checkExchange(exchange, misplaced, request)),
  ];
};

/** System messages are seen through: what they may not stand between is a matter of roles. */
function exchangesOf({ messages }: Request): Exchange[] {
  const exchanges: Exchange[] = [];
  let run: Message[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') run.push(message);
    if (message.role !== 'user') continue;
    exchanges.push({ run, answer: message });
    run = [];
  }
  return run.length > 0 ? [...exchanges, { run, answer: undefined }] : exchanges;
}

function checkExchange({ run, answer }: Exchange, misplaced: Misplaced, request: Request): Violation[] {
  const start = roundStart(run);
  const strays = run.slice(0, start);
  const round = run.slice(start);
  const faults = [
    ...strays.flatMap((message) => checkStray(message, answer, misplaced)),
    ...round.slice(1, 2).map((message) => report(rules.toolCallsSplitOverMessages, message.path)),
  ];
  if (answer === undefined) {
    return [...faults, ...round.flatMap((message) => checkOpenEnd(message, misplaced, request))];
  }
  const calls = new Set(round.flatMap(callIds));
  const strayCalls = new Set(strays.flatMap(callIds));
  return [
    ...faults,
    ...checkAnswered(calls, answer, misplaced),
    ...checkResults(answer, [calls, strayCalls, misplaced.calls]),
  ];
}

/** Where the calls begin that the answer directly follows: every message from there on holds calls. */
function roundStart(run: readonly Message[]): number {
  let start = run.length;
  while (start > 0 && callIds(run[start - 1]).length > 0) start--;
  return start;
}

function checkStray(message: Message, answer: Message | undefined, misplaced: Misplaced): Violation[] {
  const ids = callIds(message).filter((id) => !misplaced.results.has(id));
  if (ids.length === 0) return [];
  const answered = new Set(answer?.blocks.map(resultId));
  const rule = ids.some((id) => answered.has(id))
    ? rules.messageBetweenCallAndResult
    : rules.toolCallWithoutResult;
  return [report(rule, message.path, ids)];
}

function checkOpenEnd(message: Message, misplaced: Misplaced, { body }: Request): Violation[] {
  const ids = callIds(message).filter((id) => !misplaced.results.has(id));
  if (ids.length === 0) return [];
  const rule = isGiven(read(body, 'compaction'))
    ? rules.compactionIncompleteTurn
    : rules.toolCallWithoutResult;
  return [report(rule, message.path, ids)];
}

/** Only results that stand before everything else answer a call. */
function checkAnswered(calls: ReadonlySet<string>, answer: Message, misplaced: Misplaced): Violation[] {
  const firstOther = answer.blocks.findIndex(({ type }) => type !== 'tool_result');
  const leading = firstOther === -1 ? answer.blocks : answer.blocks.slice(0, firstOther);
  const answered = new Set(leading.map(resultId));
  const missing = [...calls].filter((id) => !answered.has(id) && !misplaced.results.has(id));
  return missing.length > 0 ? [report(rules.toolCallWithoutResult, answer.path, missing)] : [];
}

/** Results whose call is in none of the sets have no call before them. */
function checkResults(answer: Message, calls: readonly ReadonlySet<string>[]): Violation[] {
  const seen = new Set<string>();
  return answer.blocks.flatMap((block) => {
    const id = resultId(block);
    if (id === undefined) return [];
    if (seen.has(id)) return [report(rules.duplicateToolResult, block.path, id)];
    seen.add(id);
    return calls.some((ids) => ids.has(id)) ? [] : [report(rules.toolResultWithoutCall, block.path, id)];
  });
}

function checkUniqueIds({ messages }: Request): Violation[] {
  const seen = new Set<string>();
  return messages.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => {
      const id = role === 'assistant' ? callId(block) : undefined;
      if (id === undefined) return [];
      if (seen.has(id)) return [report(rules.duplicateToolCallId, block.path)];
      seen.add(id);
      return [];
    }),
  );
}

function findMisplaced({ messages }: Request): Misplaced {
  const calls = messages.filter(({ role }) => role !== 'assistant').flatMap(callIds);
  const results = messages
    .filter(({ role }) => role !== 'user')
    .flatMap(({ blocks }) => blocks.map(resultId));
  return { calls: new Set(calls), results: new Set(results.filter((id) => id !== undefined)) };
}

function callIds(message: Message | undefined): string[] {
  return (message?.blocks ?? []).map(callId).filter((id) => id !== undefined);
}

function callId(block: Block): string | undefined {
  return block.type === 'tool_use' ? readText(block.value, 'id') : undefined;
}

function resultId(block: Block): string | undefined {
  return block.type === 'tool_result' ? readText(block.value, 'tool_use_id') : undefined;
}
