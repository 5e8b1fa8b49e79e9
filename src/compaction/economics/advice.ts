/** Advises whether a planned compaction should run now: break-even, idle time, what was saved so far. */

import type { Conversation } from '../../conversation/format.ts';
import { isUserText, type Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import { requestTokens, tokensOf } from '../../tokens/measure.ts';
import { promptLimitTokens, type Thresholds } from '../../tokens/thresholds.ts';
import { type PriceSet, quoteRewrite, type Rewrite, type RewriteQuote, safeRemovalTokens } from './costs.ts';
import { type CostLedger, emptyLedger, savedSoFar } from './ledger.ts';

/** A planned compaction, and what its moment is like. */
export interface CompactionQuestion extends Rewrite {
  /** Prompt and answer together; 0 or less: no limit. */
  readonly windowTokens: number;
  /** Room for the answer. Default 20,000, at most a tenth of the window. */
  readonly reserveTokens?: number | undefined;
  /** Requests so far. */
  readonly turnsSoFar: number;
  /** Whether the prompt ends in a new text of the user, so that nothing is under way. Default false. */
  readonly isTaskBoundary?: boolean | undefined;
  /** What was paid and saved so far. Default: nothing was saved. */
  readonly ledger?: CostLedger | undefined;
  /**
   * Share of the costs so far that may be lost at most, if the conversation ends before a compaction has paid. Default
   * 0: only what compactions have saved is ever spent on compactions.
   */
  readonly stakeShare?: number | undefined;
}

/**
 * Why, as a stable code.
 *
 * For `compact-now`:
 * - `window-full`: the request does not fit any more; money has no say
 * - `cache-expired`: everything has to be sent at full price anyway
 * - `price-step`: the prompt gets below the step for long prompts
 * - `cheaper-at-once`: what would be read costs more than what has to be written
 * - `paid-from-savings`: it costs something now, no more than was saved, and is expected to pay
 * - `worth-the-stake`: it is expected to pay and may cost more than was saved, within the stake
 *
 * For `wait`:
 * - `batch-too-small`: too little would go; later it is more for the same price
 * - `cache-minimum`: so little would go or be left that cached reads could be lost
 * - `pays-too-late`: it pays, but too late to count on the conversation going on so long
 * - `mid-task`: it pays, not soon enough to interrupt a task
 * - `not-covered`: it is expected to pay, but more than was saved would be lost if the conversation ended
 *
 * For `never`:
 * - `saves-nothing`: nothing would go
 * - `never-pays`: it costs more than later turns can save
 */
export type AdviceReason = keyof typeof reasons;

/** What to do with a planned compaction now. */
export interface CompactionAdvice {
  readonly verdict: 'compact-now' | 'wait' | 'never';
  readonly reason: AdviceReason;
  readonly quote: RewriteQuote;
  readonly expectedTurns: number;
  /** What may be spent on it, in USD. */
  readonly spendable: number;
}

/** Share of the prompt that must go at least, unless the window is full. */
const MIN_BATCH_SHARE = 0.1;

/**
 * Shares of the expected turns within which a compaction must pay that costs something now: at a new text of the user,
 * and in the middle of a task. Less than all of them, since the next pause may make it free.
 */
const PAYBACK_SHARES = { atBoundary: 0.25, midTask: 0.125 } as const;

/**
 * Whether a planned compaction should be applied before the next request.
 *
 * Guaranteed, for prices and cache as described by the price set, whatever comes later: with a stake of 0 and a ledger
 * that is kept, a conversation that follows the advice has at no time cost more than without any compaction, as long as
 * that one would fit its window. A compaction is advised only if it is cheaper at once, or if it costs no more than what
 * compactions have saved until then; and it must remove so much that no later request costs more than without it.
 *
 * Expected, not guaranteed: that what is spent comes back. And the guarantee is about the same answers: what a model
 * reads again because it was taken out is not in it.
 */
export function adviseCompaction(question: CompactionQuestion): CompactionAdvice {
  const quote = quoteRewrite(question);
  const ledger = question.ledger ?? emptyLedger;
  const expectedTurns = expectedRemainingTurns(question.turnsSoFar);
  const spendable = savedSoFar(ledger) + (question.stakeShare ?? 0) * ledger.noneCost;
  const [verdict, reason] = decide(question, quote, { expectedTurns, spendable });
  return { verdict, reason, quote, expectedTurns, spendable };
}

type Decision = readonly [CompactionAdvice['verdict'], AdviceReason];

function decide(
  question: CompactionQuestion,
  quote: RewriteQuote,
  means: { readonly expectedTurns: number; readonly spendable: number },
): Decision {
  const { removedTokens, promptTokens, extraCost } = quote;
  if (!(removedTokens > 0)) return ['never', 'saves-nothing'];
  if (promptTokens > promptLimitTokens(question.windowTokens, question.reserveTokens))
    return ['compact-now', 'window-full'];
  if (removedTokens < promptTokens * MIN_BATCH_SHARE) return ['wait', 'batch-too-small'];
  if (removedTokens < safeRemovalTokens(question)) return ['wait', 'cache-minimum'];
  if (extraCost <= 0) return ['compact-now', whyFree(question, quote)];
  return decideToPay(question, quote, means);
}

function whyFree({ prices }: CompactionQuestion, quote: RewriteQuote): AdviceReason {
  const step = prices.prices.longContext?.abovePromptTokens ?? Number.POSITIVE_INFINITY;
  if (quote.isCacheExpired) return 'cache-expired';
  return quote.promptTokens > step && quote.promptTokensAfter <= step ? 'price-step' : 'cheaper-at-once';
}

function decideToPay(
  question: CompactionQuestion,
  { breakEvenTurns, extraCost }: RewriteQuote,
  { expectedTurns, spendable }: { readonly expectedTurns: number; readonly spendable: number },
): Decision {
  if (breakEvenTurns === Number.POSITIVE_INFINITY) return ['never', 'never-pays'];
  if (breakEvenTurns > expectedTurns * PAYBACK_SHARES.atBoundary) return ['wait', 'pays-too-late'];
  if (extraCost > spendable) return ['wait', 'not-covered'];
  const isSoon = breakEvenTurns <= expectedTurns * PAYBACK_SHARES.midTask;
  if (question.isTaskBoundary !== true && !isSoon) return ['wait', 'mid-task'];
  const isCovered = extraCost <= savedSoFar(question.ledger ?? emptyLedger);
  return ['compact-now', isCovered ? 'paid-from-savings' : 'worth-the-stake'];
}

/**
 * How many more turns a conversation is expected to have: as many as it has had, at least one. What is known of such
 * lengths (most are short, a few are very long) fits no better guess: among conversations that got to n turns, about
 * half get to 2n.
 */
export function expectedRemainingTurns(turnsSoFar: number): number {
  return Math.max(1, turnsSoFar);
}

/**
 * Tokens that a turn adds to the prompt, as the mean over the conversation so far. Takes the prompt sizes of its
 * requests, oldest first; a prompt that got smaller (a compaction) adds nothing. 0 when there is no turn to measure.
 */
export function growthPerTurn(promptSizes: readonly number[]): number {
  if (promptSizes.length < 2) return 0;
  const grown = promptSizes
    .slice(1)
    .reduce((sum, size, index) => sum + Math.max(0, size - (promptSizes[index] ?? size)), 0);
  return grown / (promptSizes.length - 1);
}

export interface AdviceOptions {
  readonly estimator: TokenEstimator;
  readonly prices: PriceSet;
  /** From the trigger on, the window leaves no choice. */
  readonly thresholds: Thresholds;
  /** Seconds since the last request was sent. */
  readonly idleSeconds: number;
  /** What was paid and saved so far. Default: nothing was saved. */
  readonly ledger?: CostLedger | undefined;
  /** Tokens of the request as it is, as the provider counts them. Default: as they are estimated. */
  readonly promptTokens?: number | undefined;
  /** Requests so far, where more are known of than the conversation still has. */
  readonly turnsSoFar?: number | undefined;
  /** The call that writes the summary, if a model does. */
  readonly summaryCall?: Rewrite['summaryCall'];
}

/**
 * Whether a planned compaction pays, by the conversation as it is and as it would be. Rounds are turns: the newest is
 * what no request had yet, and all of them together tell how much a turn adds.
 */
export function adviceFor(
  before: Conversation,
  after: Conversation,
  options: AdviceOptions,
): CompactionAdvice {
  const { estimator, prices, thresholds, idleSeconds, ledger, summaryCall } = options;
  const sizes = rewriteSizes(before, after, options);
  const { turns, newTokens, tokensPerTurn } = pace(before.messages, estimator);
  return adviseCompaction({
    prices,
    tokensBefore: sizes.tokensBefore,
    tokensBehind: sizes.tokensBehind,
    tokensBehindAfter: sizes.tokensBehindAfter,
    newTokens: newTokens * sizes.scale,
    tokensPerTurn: tokensPerTurn * sizes.scale,
    idleSeconds,
    summaryCall,
    turnsSoFar: Math.max(turns, options.turnsSoFar ?? 0),
    windowTokens: mostTokens(thresholds),
    reserveTokens: 0,
    isTaskBoundary: isTaskBoundary(before),
    ledger,
  });
}

/** The most that a request may have without being compacted; 0 when there is no limit. */
export function mostTokens({ triggerTokens }: Thresholds): number {
  return Number.isFinite(triggerTokens) ? triggerTokens - 1 : 0;
}

/** Whether nothing is under way: the request ends in words of the user. */
export function isTaskBoundary({ messages }: Conversation): boolean {
  const last = messages.at(-1);
  return last !== undefined && isUserText(last);
}

/** A rewrite in tokens of the provider. */
export interface RewriteSizes {
  /** Instructions, tools and the messages before the first one that changes. */
  readonly tokensBefore: number;
  /** From the first changed message on. */
  readonly tokensBehind: number;
  /** The same after it. */
  readonly tokensBehindAfter: number;
  /** Tokens of the provider for each estimated one. */
  readonly scale: number;
}

/** What stands before the first change, and what is behind it, before and after. */
export function rewriteSizes(
  before: Conversation,
  after: Conversation,
  { estimator, promptTokens }: Pick<AdviceOptions, 'estimator' | 'promptTokens'>,
): RewriteSizes {
  const estimate = requestTokens(before, estimator);
  const whole = promptTokens ?? Math.round(estimate);
  const scale = whole > 0 && estimate > 0 ? whole / estimate : 1;
  const changed = before.messages.findIndex(({ raw }, index) => raw !== after.messages[index]?.raw);
  const behind = changed === -1 ? [] : before.messages.slice(changed);
  const tokensBehind = Math.min(whole, Math.round(tokensOf(behind, estimator) * scale));
  const tokensBefore = whole - tokensBehind;
  const tokensAfter = Math.round(requestTokens(after, estimator) * scale);
  return { tokensBefore, tokensBehind, tokensBehindAfter: Math.max(0, tokensAfter - tokensBefore), scale };
}

/** How a conversation goes on, in estimated tokens. */
interface Pace {
  readonly turns: number;
  /** The newest response and what follows it. */
  readonly newTokens: number;
  /** What a turn adds, as a mean. */
  readonly tokensPerTurn: number;
}

function pace(messages: readonly Message[], estimator: TokenEstimator): Pace {
  const rounds = groupRounds(messages).filter(({ kind }) => kind === 'response');
  const [first, last] = [rounds[0], rounds.at(-1)];
  const tokensSince = (start: number | undefined) => tokensOf(messages.slice(start ?? 0), estimator);
  return {
    turns: rounds.length,
    newTokens: tokensSince(last?.start),
    tokensPerTurn: first === undefined ? 0 : tokensSince(first.start) / rounds.length,
  };
}

/** The advice in a few plain sentences: what to do and why, what it costs now, and when it has paid. */
export function explainAdvice(advice: CompactionAdvice): string {
  return [whatAndWhy(advice), costSentence(advice), breakEvenSentence(advice)]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

const verdicts = { 'compact-now': 'Compact now', wait: 'Wait', never: 'Do not compact' } as const;

const reasons = {
  'window-full': () => 'the request does not fit the window any more',
  'cache-expired': () =>
    'the prompt cache has expired, so that everything is sent at full price anyway, and less of it is cheaper',
  'price-step': () => 'the prompt gets below the price step for long prompts',
  'cheaper-at-once': () => 'writing the shorter prompt costs less than reading the longer one',
  'paid-from-savings': ({ spendable }: { readonly spendable: number }) =>
    `it will probably pay, and costs no more than the ${usd(spendable)} that compactions have saved so far`,
  'worth-the-stake': ({ spendable }: { readonly spendable: number }) =>
    `it will probably pay, and the ${usd(spendable)} that may be staked cover it if it does not`,
  'batch-too-small': () => 'too little would go; later, more can go for the price of one rewrite',
  'cache-minimum': () => 'so little would go, or be left, that cached reads could be lost',
  'pays-too-late': () => 'it would pay too late to count on the conversation going on so long',
  'mid-task': () =>
    'it would pay, but not soon enough to interrupt a task; ask again at the next text of the user',
  'not-covered': ({ spendable }: { readonly spendable: number }) =>
    `it would probably pay, but if the conversation ended before, it would have cost more than no compaction; ${
      spendable > 0 ? `only ${usd(spendable)} has been saved so far` : 'nothing has been saved so far'
    }. A pause that lets the cache expire makes it free`,
  'saves-nothing': () => 'nothing would become smaller',
  'never-pays': () => 'it costs more than later turns can save',
} satisfies Record<string, (means: { readonly spendable: number }) => string>;

function whatAndWhy(advice: CompactionAdvice): string {
  return `${verdicts[advice.verdict]}: ${reasons[advice.reason](advice)}.`;
}

function costSentence({ quote }: CompactionAdvice): string {
  const { promptTokens, promptTokensAfter, removedTokens, keepCost, rewriteCost } = quote;
  if (!(removedTokens > 0)) return '';
  const sizes = `${tokens(promptTokens)} to ${tokens(promptTokensAfter)} tokens`;
  return `From ${sizes}, the next request costs ${usd(rewriteCost)} instead of ${usd(keepCost)}.`;
}

function breakEvenSentence({ quote, expectedTurns }: CompactionAdvice): string {
  const { breakEvenTurns, savedPerTurn, extraCost, removedTokens } = quote;
  if (!(removedTokens > 0)) return '';
  const saving = `Each turn after that saves ${usd(savedPerTurn)} or more`;
  if (extraCost <= 0) return `${saving}.`;
  if (breakEvenTurns === Number.POSITIVE_INFINITY) return '';
  const turns = Math.ceil(breakEvenTurns);
  const expected = Math.round(expectedTurns);
  return `${saving}, so it has paid after ${count(turns, 'turn')}; about ${expected} more ${
    expected === 1 ? 'is' : 'are'
  } expected.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function tokens(number: number): string {
  return number < 10_000 ? String(Math.round(number)) : `${Math.round(number / 1000)}k`;
}

/** Three digits that count, since prices of a turn go from cents to fractions of a thousandth. */
function usd(amount: number): string {
  const digits = Math.abs(amount) >= 1 ? amount.toFixed(2) : String(Number(amount.toPrecision(2)));
  return `$${digits.includes('e') ? amount.toFixed(7) : digits}`;
}
