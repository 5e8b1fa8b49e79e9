import type { Message } from '../conversation/message.ts';
import { textOf } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { learnRatio, type TokenClass, tokensOfBlocks } from '../tokens/measure.ts';
import type { Recording } from '../transcripts/recordings.ts';
import { promptTokensOf, type RecordedRequest } from '../transcripts/requests.ts';
import type { RecordedCompaction } from '../transcripts/transcript.ts';
import { ratesOf } from './recorded-cost.ts';

/** What money is spent on. */
export type Purpose = (typeof purposes)[number];

/**
 * Every purpose, in the order in which reports list them. `compactions`: summaries that a compaction left in the context.
 * `unrecorded`: what the provider counted and the file does not show. `elsewhere`: responses whose messages the file does not
 * show, of abandoned branches and sub-agents.
 */
export const purposes = [
  'instructions',
  'user',
  'tool-results',
  'tool-calls',
  'reasoning',
  'answers',
  'compactions',
  'unrecorded',
  'elsewhere',
] as const;

/** Dollars by what they were spent on. */
export type Spending = Record<Purpose, number>;

/** Nothing spent. */
export function noSpending(): Spending {
  return {
    instructions: 0,
    user: 0,
    'tool-results': 0,
    'tool-calls': 0,
    reasoning: 0,
    answers: 0,
    compactions: 0,
    unrecorded: 0,
    elsewhere: 0,
  };
}

/**
 * Splits what the requests of a recording cost by what stood in each prompt, in its order: what stands in front was read from
 * the cache, what is new was written to it or paid in full. Sizes are estimated and scaled to what the provider counted.
 */
export function addSpending(
  spending: Spending,
  { transcript, conversations }: Recording,
  requests: readonly RecordedRequest[],
  estimator: TokenEstimator,
): void {
  let firstHead: number | undefined;
  for (const [segment, { messages }] of conversations.entries()) {
    const own = requests.filter((request) => request.segment === segment);
    if (own.length === 0) continue;
    const { ratio } = learnRatio(messages, estimator);
    const layout = layOut(messages, transcript.segments[segment]?.opening, estimator);
    for (const request of own) {
      const size = layout.tokensUntil(request.start) * ratio;
      const headTokens = Math.max(0, promptTokensOf(request.charge) - size);
      firstHead ??= headTokens;
      const instructions = Math.min(firstHead, headTokens);
      spendPrompt(spending, request, { layout, instructions, unrecorded: headTokens - instructions });
      spendOutput(spending, request, layout, ratio);
    }
  }
}

interface PromptParts {
  readonly layout: Layout;
  readonly instructions: number;
  readonly unrecorded: number;
}

function spendPrompt(spending: Spending, { charge, start }: RecordedRequest, parts: PromptParts): void {
  const rates = ratesOf(charge);
  if (rates === undefined) return;
  const { layout, instructions, unrecorded } = parts;
  const promptTokens = promptTokensOf(charge);
  const messageTokens = promptTokens - instructions - unrecorded;
  const listed = layout.tokensUntil(start);
  const upTo = (tokens: number): Spending => {
    const inMessages = Math.max(0, tokens - instructions - unrecorded);
    const share = messageTokens <= 0 ? 0 : inMessages / messageTokens;
    const sums = scaled(layout.until(listed * share), listed === 0 ? 0 : messageTokens / listed);
    sums.instructions += Math.min(tokens, instructions);
    sums.unrecorded += Math.min(Math.max(0, tokens - instructions), unrecorded);
    return sums;
  };
  let from = upTo(0);
  let end = 0;
  for (const [tokens, rate] of [
    [charge.cacheReadTokens, rates.cacheRead],
    [charge.cacheWriteHourTokens, rates.cacheWriteHour],
    [charge.cacheWriteTokens, rates.cacheWrite],
    [charge.inputTokens, rates.input],
  ] as const) {
    end += tokens;
    const until = upTo(end);
    for (const name of purposes) spending[name] += (until[name] - from[name]) * rate;
    from = until;
  }
}

/** What the model wrote and nobody can read was reasoning, where it says that it reasoned. */
function spendOutput(
  spending: Spending,
  { charge, start, end }: RecordedRequest,
  layout: Layout,
  ratio: number,
): void {
  const dollars = charge.outputTokens * (ratesOf(charge)?.output ?? 0);
  if (dollars === 0) return;
  const written = layout.between(start, end);
  const visible = (written.answers + written['tool-calls']) * ratio;
  const isReasoned = layout.hasReasoning(start, end);
  if (visible === 0) {
    spending[isReasoned ? 'reasoning' : 'unrecorded'] += dollars;
    return;
  }
  const share = isReasoned ? Math.min(1, visible / charge.outputTokens) : 1;
  spending.reasoning += dollars * (1 - share);
  for (const name of ['answers', 'tool-calls'] as const)
    spending[name] += (dollars * share * written[name] * ratio) / visible;
}

/** A list of messages as tokens in a row, by what they are spent on. */
interface Layout {
  /** Estimated tokens of the messages before an index. */
  tokensUntil(index: number): number;
  /** What the first tokens are spent on. */
  until(tokens: number): Spending;
  /** What some messages are spent on. */
  between(start: number, end: number): Spending;
  hasReasoning(start: number, end: number): boolean;
}

function layOut(
  messages: readonly Message[],
  opening: RecordedCompaction | undefined,
  estimator: TokenEstimator,
): Layout {
  const sums = [noSpending()];
  const ends = [0];
  for (const [index, message] of messages.entries()) {
    const isSummary = isSummaryOf(message, index, opening);
    const tokens = estimator.countMessage(message);
    const own = spendingOf(message, isSummary, estimator);
    const counted = purposes.reduce((sum, name) => sum + own[name], 0);
    // What wraps a message belongs to what is in it.
    const next = counted === 0 ? { ...own, unrecorded: tokens } : scaled(own, tokens / counted);
    sums.push(added(sums[index] ?? noSpending(), next, 1));
    ends.push((ends[index] ?? 0) + tokens);
  }
  return {
    tokensUntil: (index) => ends[index] ?? ends.at(-1) ?? 0,
    until(tokens) {
      const index = lastAtMost(ends, tokens);
      const [before, behind] = [sums[index] ?? noSpending(), sums[index + 1]];
      const [start, end] = [ends[index] ?? 0, ends[index + 1]];
      if (behind === undefined || end === undefined || end <= start) return { ...before };
      return added(before, added(behind, before, -1), (tokens - start) / (end - start));
    },
    between: (start, end) => added(sums[end] ?? noSpending(), sums[start] ?? noSpending(), -1),
    hasReasoning: (start, end) =>
      messages.slice(start, end).some(({ blocks }) => blocks.some(({ type }) => type === 'reasoning')),
  };
}

/** Index of the last of rising numbers that is not above a limit. */
function lastAtMost(rising: readonly number[], limit: number): number {
  let [low, high] = [0, rising.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((rising[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function added(left: Spending, right: Spending, factor: number): Spending {
  const sum = { ...left };
  for (const name of purposes) sum[name] += factor * right[name];
  return sum;
}

function scaled(spending: Spending, factor: number): Spending {
  return added(noSpending(), spending, factor);
}

function spendingOf(message: Message, isSummary: boolean, estimator: TokenEstimator): Spending {
  const spending = noSpending();
  for (const [index, [name, tokens]] of tokensOfBlocks(message, estimator).entries()) {
    const isCompaction = isSummary || message.blocks[index]?.type === 'compaction';
    spending[isCompaction ? 'compactions' : purposeOf(name, message)] += tokens;
  }
  return spending;
}

function purposeOf(name: TokenClass, { role }: Message): Purpose {
  switch (name) {
    case 'system':
    case 'tools':
      return 'instructions';
    case 'tool-calls':
    case 'tool-results':
    case 'reasoning':
    case 'user':
      return name;
    case 'assistant':
      return 'answers';
    case 'media':
    case 'other':
    case 'overhead':
      return role === 'assistant' ? 'answers' : role === 'system' ? 'instructions' : 'user';
  }
}

const COMPARED_CHARACTERS = 200;

/** Whether a message is what a compaction wrote, be it the agent's or ours. */
function isSummaryOf(message: Message, index: number, opening: RecordedCompaction | undefined): boolean {
  if (readSummaryMessage(message) !== undefined) return true;
  const beginning = opening?.summary?.trim().slice(0, COMPARED_CHARACTERS);
  if (!beginning || index >= (opening?.carried ?? 0)) return false;
  return message.blocks.some((block) => block.type === 'text' && textOf(block).includes(beginning));
}
