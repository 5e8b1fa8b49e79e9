import { RESERVE_TOKENS } from '../../tokens/thresholds.ts';
import { expectedRemainingTurns } from './expectations.ts';
import { type CostLedger, emptyLedger, savedSoFar } from './ledger.ts';
import { quoteRewrite, type Rewrite, type RewriteQuote, safeRemovalTokens } from './rewrite-quote.ts';

/** A planned compaction, and what its moment is like. */
export interface CompactionQuestion extends Rewrite {
  /** Prompt and answer together; 0 or less: no limit. */
  readonly windowTokens: number;
  /** Room for the answer. Default 20,000, at most a tenth of the window. */
  readonly reserveTokens?: number | undefined;
  /** Requests so far. */
  readonly turnsSoFar: number;
  /** Requests still to come. Default: as many as so far (`expectedRemainingTurns`). */
  readonly expectedTurns?: number | undefined;
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
export type AdviceReason =
  | 'window-full'
  | 'cache-expired'
  | 'price-step'
  | 'cheaper-at-once'
  | 'paid-from-savings'
  | 'worth-the-stake'
  | 'batch-too-small'
  | 'cache-minimum'
  | 'pays-too-late'
  | 'mid-task'
  | 'not-covered'
  | 'saves-nothing'
  | 'never-pays';

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
  const expectedTurns = question.expectedTurns ?? expectedRemainingTurns(question.turnsSoFar);
  const spendable = savedSoFar(ledger) + (question.stakeShare ?? 0) * ledger.noneCost;
  const [verdict, reason] = decide(question, quote, { expectedTurns, spendable });
  return { verdict, reason, quote, expectedTurns, spendable };
}

/** The most that a prompt may have in a window; infinite when there is no limit. */
export function promptLimitTokens(windowTokens: number, reserveTokens?: number): number {
  if (windowTokens <= 0) return Number.POSITIVE_INFINITY;
  return windowTokens - (reserveTokens ?? Math.min(RESERVE_TOKENS, windowTokens / 10));
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
