import type { Violation } from '../contract.ts';
import { isGiven, read, readText } from '../json-value.ts';
import { defineRules, type RuleGroup, report } from '../rule.ts';
import type { Block, Message, Request } from './request.ts';

const unanswered = (path: string, ids: readonly string[]) =>
  `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

const rules = defineRules({
  'tool-call-without-result': {
    alias: 'A16',
    title: 'every tool call is answered at once',
    fix: 'Answer every call in the very next message, results first, or drop call and result together.',
    evidence: 'documented',
    wording: unanswered,
  },
  'tool-calls-split-over-messages': {
    alias: 'A16w',
    title: 'calls of one round in one message',
    fix: 'Put all calls of one response into one assistant message.',
    evidence: 'reported',
    severity: 'warning',
    wording: (path: string) =>
      `${path}: the calls of one round are split over adjacent assistant messages; this was accepted, but pairing is documented message by message`,
  },
  'tool-result-without-call': {
    alias: 'A17',
    title: 'every tool result follows its call',
    fix: 'Drop the result, or keep the assistant message with its call directly before it.',
    evidence: 'reported',
    wording: (path: string, id: string) =>
      `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
  },
  'message-between-call-and-result': {
    alias: 'A18',
    title: 'no assistant message between call and result',
    fix: 'Move the assistant message away from between the call and its result.',
    evidence: 'reported',
    wording: unanswered,
  },
  'duplicate-tool-result': {
    alias: 'A19',
    title: 'one result per call',
    fix: 'Keep one result for each call.',
    evidence: 'reported',
    wording: (path: string, id: string) =>
      `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
  },
  'duplicate-tool-call-id': {
    alias: 'A20',
    title: 'call ids are unique',
    fix: 'Give every call its own id.',
    evidence: 'reported',
    wording: (path: string) => `${path}: \`tool_use\` ids must be unique`,
  },
  'compaction-incomplete-turn': {
    alias: 'compaction_incomplete_turn',
    title: 'no compaction while a call is open',
    fix: 'Answer the pending tool calls before asking for a compaction.',
    evidence: 'documented',
    wording: (path: string, ids: readonly string[]) =>
      `${path}: cannot compact a conversation with pending tool calls: ${ids.join(', ')}`,
  },
});

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
export const anthropicPairing: RuleGroup<Request> = { rules, check: checkPairing };

function checkPairing(request: Request): readonly Violation[] {
  const misplaced = findMisplaced(request);
  return [
    ...checkUniqueIds(request),
    ...exchangesOf(request).flatMap((exchange) => checkExchange(exchange, misplaced, request)),
  ];
}

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
    ...round.slice(1, 2).map((message) => report(rules['tool-calls-split-over-messages'], message.path)),
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
    ? rules['message-between-call-and-result']
    : rules['tool-call-without-result'];
  return [report(rule, message.path, ids)];
}

function checkOpenEnd(message: Message, misplaced: Misplaced, { body }: Request): Violation[] {
  const ids = callIds(message).filter((id) => !misplaced.results.has(id));
  if (ids.length === 0) return [];
  const rule = isGiven(read(body, 'compaction'))
    ? rules['compaction-incomplete-turn']
    : rules['tool-call-without-result'];
  return [report(rule, message.path, ids)];
}

/** Only results that stand before everything else answer a call. */
function checkAnswered(calls: ReadonlySet<string>, answer: Message, misplaced: Misplaced): Violation[] {
  const firstOther = answer.blocks.findIndex(({ type }) => type !== 'tool_result');
  const leading = firstOther === -1 ? answer.blocks : answer.blocks.slice(0, firstOther);
  const answered = new Set(leading.map(resultId));
  const missing = [...calls].filter((id) => !answered.has(id) && !misplaced.results.has(id));
  return missing.length > 0 ? [report(rules['tool-call-without-result'], answer.path, missing)] : [];
}

/** Results whose call is in none of the sets have no call before them. */
function checkResults(answer: Message, calls: readonly ReadonlySet<string>[]): Violation[] {
  const seen = new Set<string>();
  return answer.blocks.flatMap((block) => {
    const id = resultId(block);
    if (id === undefined) return [];
    if (seen.has(id)) return [report(rules['duplicate-tool-result'], block.path, id)];
    seen.add(id);
    return calls.some((ids) => ids.has(id))
      ? []
      : [report(rules['tool-result-without-call'], block.path, id)];
  });
}

function checkUniqueIds({ messages }: Request): Violation[] {
  const seen = new Set<string>();
  return messages.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => {
      const id = role === 'assistant' ? callId(block) : undefined;
      if (id === undefined) return [];
      if (seen.has(id)) return [report(rules['duplicate-tool-call-id'], block.path)];
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
