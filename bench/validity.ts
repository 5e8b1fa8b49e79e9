/**
 * C4 and C5: what the default ladder, offline, makes of random conversations, judged by the providers' rules.
 *
 * C4: every conversation is written in two wire formats and compacted to random budgets of 2 to 95 % of its size by a
 * compactor with its defaults. Counted are outputs that
 * - the contract rejects;
 * - do not begin with the user's message (system messages apart);
 * - have lost the newest turn: the user's last message and all of the newest round are there as the same values;
 * - are over a feasible budget. No budget can ask for less than what always stays: the instructions, the tools, the
 *   pinned messages and the newest round, which is what `findFloor` adds up, and a note of at most `NOTE_TOKENS` tokens
 *   that says what left. From there on a budget is feasible, and the output has to be within it.
 *
 * C5: conversations in which rounds were aborted, so that results of calls are missing, and what is still broken after
 * `ensureToolResultPairing`.
 */
import { createCompactor } from '../src/compaction/compactor.ts';
import { findFloor, layOut } from '../src/compaction/plan/layout.ts';
import { spansOf } from '../src/compaction/plan/pins.ts';
import { changeOf } from '../src/compaction/plan/strategy.ts';
import { tailStart } from '../src/compaction/plan/tail.ts';
import { findContract } from '../src/contracts/registry.ts';
import { type Conversation, writeConversation } from '../src/conversation/format.ts';
import { isUserText } from '../src/conversation/message.ts';
import { ensureToolResultPairing } from '../src/conversation/pairing.ts';
import { groupRounds } from '../src/conversation/rounds.ts';
import { findFormat } from '../src/formats/registry.ts';
import { createTokenEstimator } from '../src/tokens/estimator.ts';
import { requestTokens } from '../src/tokens/measure.ts';
import { deepFreeze } from '../test/support/deep-freeze.ts';
import { createRandom, type Random } from './estimator/seeded.ts';
import {
  abortedCalls,
  type Body,
  bodyOf,
  createSessions,
  type MeasuredFormat,
  measuredFormats,
  messagesOf,
  withoutResults,
} from './random-conversations.ts';
import { printGoals } from './timing.ts';

const CONVERSATIONS = 10_000;
const ABORTED_CONVERSATIONS = 1000;
const BUDGETS = 2;
const NOTE_TOKENS = 100;
/** Larger than any of the conversations, so that only the budget counts. */
const WINDOW_TOKENS = 10_000_000;

const counts = {
  compactions: 0,
  rejected: 0,
  notUserFirst: 0,
  lostNewestTurn: 0,
  feasible: 0,
  overBudget: 0,
  unchanged: 0,
};
const estimator = createTokenEstimator();

function isRejected(format: MeasuredFormat, body: unknown): boolean {
  const violations = findContract(format)?.check(body) ?? [];
  return violations.some(({ severity }) => severity === 'error');
}

/** The tokens that no compaction can go below. */
function floorOf(conversation: Conversation): number {
  const cut = tailStart(conversation, estimator, { keepTokens: 0, keepRounds: 0 });
  const layout = layOut(conversation, { spans: spansOf(conversation.messages), cut });
  return findFloor(conversation, estimator, layout).tokens + NOTE_TOKENS;
}

/** The values that make up the newest turn: the user's last message and the newest round. */
function newestTurn({ messages }: Conversation): readonly unknown[] {
  const { start } = groupRounds(messages).at(-1) ?? { start: 0 };
  const asked = messages.findLast(isUserText);
  return [...(asked === undefined ? [] : [asked.raw]), ...messages.slice(start).map(({ raw }) => raw)];
}

async function compact(format: MeasuredFormat, body: Body, random: Random): Promise<void> {
  const conversation = findFormat(format)!.read(body);
  const budget = Math.floor(requestTokens(conversation, estimator) * (0.02 + random() * 0.93));
  const compactor = createCompactor({
    format,
    windowTokens: WINDOW_TOKENS,
    trigger: budget + 1,
    target: budget,
  });
  const { value, outcome } = await compactor.maybeCompact(body);
  const after = findFormat(format)!.read(value);
  const kept = new Set(value.messages);
  const isFeasible = budget >= floorOf(conversation);
  counts.compactions++;
  if (changeOf(outcome) === undefined) counts.unchanged++;
  if (isRejected(format, value)) counts.rejected++;
  if (after.messages.find(({ role }) => role !== 'system')?.role !== 'user') counts.notUserFirst++;
  if (!newestTurn(conversation).every((raw) => kept.has(raw))) counts.lostNewestTurn++;
  if (!isFeasible) return;
  counts.feasible++;
  if (requestTokens(after, estimator) > budget) counts.overBudget++;
}

async function measureCompactions(random: Random): Promise<void> {
  const nextSession = createSessions(random);
  for (let index = 0; index < CONVERSATIONS; index++) {
    const steps = nextSession();
    for (const format of measuredFormats) {
      const body = deepFreeze(bodyOf(format, messagesOf(format, steps)));
      if (isRejected(format, body)) throw new Error(`the generator wrote a ${format} body that is rejected`);
      for (let budget = 0; budget < BUDGETS; budget++) await compact(format, body, random);
    }
  }
}

/** How many are broken before and after repair. */
function measureRepairs(random: Random): { readonly before: number; readonly after: number } {
  const nextSession = createSessions(random);
  let before = 0;
  let after = 0;
  for (let index = 0; index < ABORTED_CONVERSATIONS; index++) {
    const steps = nextSession();
    const lost = abortedCalls(random, steps);
    for (const format of measuredFormats) {
      const body = deepFreeze(bodyOf(format, withoutResults(messagesOf(format, steps), lost)));
      if (isRejected(format, body)) before++;
      const repaired = ensureToolResultPairing(findFormat(format)!.read(body));
      if (isRejected(format, writeConversation(repaired))) after++;
    }
  }
  return { before, after };
}

const start = performance.now();
await measureCompactions(createRandom(41));
const repairs = measureRepairs(createRandom(42));
const { compactions, feasible, unchanged } = counts;
console.log(
  `${CONVERSATIONS} conversations × ${measuredFormats.length} formats × ${BUDGETS} budgets = ${compactions} compactions, ${feasible} with a feasible budget, ${unchanged} left as they were`,
);
console.log(
  `${ABORTED_CONVERSATIONS} conversations with aborted rounds × ${measuredFormats.length} formats: ${repairs.before} broken before repair`,
);
console.log(`in ${((performance.now() - start) / 1000).toFixed(0)} s`);
const isFine = printGoals([
  { name: 'C4 rejected', measured: counts.rejected, atMost: 0 },
  { name: 'C4 not user-first', measured: counts.notUserFirst, atMost: 0 },
  { name: 'C4 lost newest turn', measured: counts.lostNewestTurn, atMost: 0 },
  { name: 'C4 over a feasible budget', measured: counts.overBudget, atMost: 0 },
  { name: 'C5 broken after repair', measured: repairs.after, atMost: 0 },
]);
process.exitCode = isFine ? 0 : 1;
