import { RoundfoldError } from '../../conversation/errors.ts';
import type { Message } from '../../conversation/message.ts';
import { newestRoundsStart } from '../../conversation/rounds.ts';
import type { OverflowFacts } from '../../formats/overflow/detect.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import type { Edit } from '../plan/plan.ts';
import {
  Draft,
  type OrderOfLeaving,
  orderOfLeaving,
  savedBy,
  type TextResult,
  textResults,
  type Unit,
  unitsOf,
} from './draft.ts';

/**
 * - `oversized-first`: a round that takes more than half of the window by itself is cut first: its largest tool results are
 *   shortened, and where that is not enough, it leaves alone. Only then `keep-preamble` goes on with what is still missing.
 * - `keep-preamble`: the oldest rounds go first; what is pinned goes after long tool results were shortened, and what
 *   stands before the first answer goes last. Estimates are scaled to the provider's count.
 * - `literal`: strictly oldest first, the preamble included, by the provider's number or a fixed fifth of the rounds.
 */
export type RetryPolicy = 'oversized-first' | 'keep-preamble' | 'literal';

/** What a policy does, as data. */
export interface PolicyRules {
  /** Share of the rounds that goes when no number is known, by retry. */
  readonly fractions: readonly number[];
  readonly marginFraction: number;
  /** Whether our own estimate may say how much goes. */
  readonly usesEstimate: boolean;
  /** Whether what is pinned goes last, after long results were shortened. */
  readonly sparesPins: boolean;
  /** Whether rounds that are far too large go before old ones. */
  readonly cutsOversized: boolean;
}

const keepPreamble: PolicyRules = {
  fractions: [0.2, 0.4, 0.6],
  marginFraction: 0.1,
  usesEstimate: true,
  sparesPins: true,
  cutsOversized: false,
};

const policies: ReadonlyMap<string, PolicyRules> = new Map<RetryPolicy, PolicyRules>([
  ['oversized-first', { ...keepPreamble, cutsOversized: true }],
  ['keep-preamble', keepPreamble],
  [
    'literal',
    { fractions: [0.2], marginFraction: 0, usesEstimate: false, sparesPins: false, cutsOversized: false },
  ],
]);

/** @throws RoundfoldError `usage` for a policy that does not exist */
export function rulesOf(policy: RetryPolicy = 'oversized-first'): PolicyRules {
  const rules = policies.get(policy);
  if (rules !== undefined) return rules;
  throw new RoundfoldError('usage', `there is no retry policy ${String(policy)}`, {
    remedy: `Use one of ${[...policies.keys()].join(', ')}.`,
  });
}

/** How much goes, in estimated tokens, or as a share of the rounds. */
export interface Amount {
  /** The request that was refused. */
  readonly estimatedTokens: number;
  /** By the provider's own numbers, with a margin. */
  readonly gapTokens: number | undefined;
  /** The same without the margin. */
  readonly excessTokens: number | undefined;
  /** By our estimate, where the provider gave no number. */
  readonly localGapTokens: number | undefined;
  readonly atLeastTokens: number;
  readonly fraction: number;
  /** What the request may have; undefined when it is not known. */
  readonly limitTokens: number | undefined;
}

interface AmountOptions {
  readonly overflow?: OverflowFacts | undefined;
  readonly attempt?: number | undefined;
  readonly windowTokens?: number | undefined;
  readonly marginFraction?: number | undefined;
  readonly dropAtLeastTokens?: number | undefined;
}

/** Works out how much of a request of `estimatedTokens` has to go. */
export function amountToDrop(estimatedTokens: number, rules: PolicyRules, options: AmountOptions): Amount {
  const { overflow } = options;
  const attempt = Math.max(1, Math.floor(options.attempt ?? 1));
  const fraction = rules.fractions[attempt - 1] ?? rules.fractions.at(-1) ?? 0;
  const atLeastTokens = rules.usesEstimate ? (options.dropAtLeastTokens ?? 0) : 0;
  const common = { estimatedTokens, atLeastTokens, fraction };
  const statedExcess = overflow?.excessTokens ?? 0;
  if (statedExcess > 0) {
    const excessTokens = statedExcess * (rules.usesEstimate ? scaleOf(estimatedTokens, overflow) : 1);
    const limitTokens = Math.max(0, estimatedTokens - excessTokens);
    // A share of a large excess could be most of what may stay.
    const marginOf = Math.min(excessTokens, limitTokens);
    const gapTokens = excessTokens + marginOf * (options.marginFraction ?? rules.marginFraction);
    return { ...common, gapTokens, excessTokens, localGapTokens: undefined, limitTokens };
  }
  const stated = rules.usesEstimate ? (overflow?.limitTokens ?? options.windowTokens) : undefined;
  const limitTokens = stated === undefined ? undefined : stated - (overflow?.requestedOutputTokens ?? 0);
  const localGap = limitTokens === undefined ? 0 : estimatedTokens - limitTokens;
  const localGapTokens = localGap > 0 ? localGap : undefined;
  return { ...common, gapTokens: undefined, excessTokens: undefined, localGapTokens, limitTokens };
}

/** The excess is in the provider's tokens, what is dropped in ours. */
function scaleOf(estimatedTokens: number, overflow: OverflowFacts | undefined): number {
  const { actualTokens = 0, countIsLowerBound } = overflow ?? {};
  return actualTokens > 0 && countIsLowerBound !== true ? estimatedTokens / actualTokens : 1;
}

/** What leaves a request. */
export interface Choice {
  /** In order. */
  readonly dropped: readonly Unit[];
  readonly shortened: readonly Extract<Edit, { type: 'rewrite' }>[];
  readonly isCurrentTurnShortened: boolean;
}

interface ChoiceOptions {
  readonly estimator: TokenEstimator;
  /** Messages that leave last. */
  readonly pinned: ReadonlySet<number>;
  /** Whether the newest round waits for an answer of the model. */
  readonly hasCurrentTurn: boolean;
}

/** What leaves, by the rules of a policy; undefined when nothing can. */
export function chooseDrops(
  messages: readonly Message[],
  amount: Amount,
  rules: PolicyRules,
  options: ChoiceOptions,
): Choice | undefined {
  const { estimator, pinned, hasCurrentTurn } = options;
  const units = unitsOf(messages, estimator);
  const request: Request = {
    messages,
    units,
    amount,
    order: orderOfLeaving(messages, units, rules.sparesPins ? pinned : undefined),
    pinned,
    currentStart: hasCurrentTurn ? newestRoundsStart(messages, 1) : messages.length,
    estimator,
  };
  const draft = new Draft(estimator);
  const oversized = rules.cutsOversized ? oversizedUnits(request) : [];
  const goal = goalOf(request, oversized.length > 0);
  if (oversized.length > 0) cutOversized(draft, request, oversized, goal.tokens);
  draft.dropUntil(
    request.order.first,
    () => draft.freedTokens >= goal.tokens && draft.droppedUnits.size >= goal.units,
  );
  if (rules.sparesPins) shortenWhatStays(draft, request);
  partWithPins(draft, request);
  if (draft.isEmpty) return undefined;
  return {
    dropped: units.filter((unit) => draft.droppedUnits.has(unit)),
    shortened: draft.rewrites,
    isCurrentTurnShortened: draft.rewrites.some(({ message }) => message >= request.currentStart),
  };
}

/** The request that was refused. */
interface Request {
  readonly messages: readonly Message[];
  readonly units: readonly Unit[];
  readonly amount: Amount;
  readonly order: OrderOfLeaving;
  readonly pinned: ReadonlySet<number>;
  /** Where the current turn begins: the newest answer and all that the model has not answered yet. */
  readonly currentStart: number;
  readonly estimator: TokenEstimator;
}

/** What has to be reached by dropping rounds without a pin: tokens, and where no number is known, rounds. */
function goalOf(
  { units, amount }: Request,
  hasOversized: boolean,
): { readonly tokens: number; readonly units: number } {
  const { gapTokens, localGapTokens = 0, atLeastTokens, fraction, estimatedTokens } = amount;
  if (gapTokens !== undefined) return { tokens: Math.max(gapTokens, atLeastTokens), units: 0 };
  const tokens = Math.max(localGapTokens, atLeastTokens);
  // A share of the rounds says nothing where one of them is most of the request.
  if (hasOversized) return { tokens: Math.max(tokens, fraction * estimatedTokens), units: 0 };
  return { tokens, units: Math.max(1, Math.floor(fraction * units.length)) };
}

/** The limit, or without one the whole request, which is larger. */
function mostTokens({ limitTokens, estimatedTokens }: Amount): number {
  return Math.min(limitTokens ?? estimatedTokens, estimatedTokens);
}

/** Rounds that take more than half of the window by themselves, the largest first. */
function oversizedUnits(request: Request): readonly Unit[] {
  const { messages, units, amount, order, currentStart } = request;
  const half = mostTokens(amount) / 2;
  const movable = new Set([...order.first, ...order.last]);
  const newest = units.at(-1);
  const isCandidate = (unit: Unit) => {
    if (unit !== newest) return movable.has(unit) && messages[unit.start]?.role === 'assistant';
    return unit.end <= currentStart || isTooLongAlone(request);
  };
  return units
    .filter((unit) => unit.tokens > half && isCandidate(unit))
    .toSorted((left, right) => right.tokens - left.tokens);
}

/** Whether the current turn would not fit if all that may leave had left. */
function isTooLongAlone({ amount, order }: Request): boolean {
  const mayLeave = [...order.first, ...order.last].reduce((sum, { tokens }) => sum + tokens, 0);
  return amount.limitTokens !== undefined && amount.estimatedTokens - mayLeave > amount.limitTokens;
}

/** Shortens what oversized rounds hold, and drops them where that is not enough. The current turn keeps half a window. */
function cutOversized(draft: Draft, request: Request, oversized: readonly Unit[], goalTokens: number): void {
  const { pinned, order, amount, currentStart } = request;
  const missing = () => goalTokens - draft.freedTokens;
  const results = oversized.flatMap((unit) => resultsIn(request, unit));
  const isOld = ({ message }: TextResult) => message < currentStart && !pinned.has(message);
  draft.shorten(results.filter(isOld), missing());
  const newest = oversized.find(({ end }) => end > currentStart);
  if (newest !== undefined) {
    const spare = newest.tokens - mostTokens(amount) / 2;
    const current = results.filter(({ message }) => message >= currentStart);
    draft.shorten(current, Math.min(missing(), spare));
  }
  const mayLeave = new Set(order.first);
  draft.dropUntil(
    oversized.filter((unit) => mayLeave.has(unit)),
    () => missing() <= 0,
  );
}

function resultsIn({ messages, estimator }: Request, unit: Unit): readonly TextResult[] {
  return textResults(messages, unit, estimator);
}

/** Shortens results that are still there, the old ones first. */
function shortenWhatStays(draft: Draft, request: Request): void {
  const { units, amount, currentStart } = request;
  const { gapTokens, excessTokens, localGapTokens, fraction, estimatedTokens } = amount;
  const share = draft.isEmpty ? fraction * estimatedTokens : 0;
  const missing = () => (gapTokens ?? localGapTokens ?? share) - draft.freedTokens;
  if (missing() <= 0) return;
  const kept = units.filter((unit) => !draft.droppedUnits.has(unit));
  const results = kept.flatMap((unit) => resultsIn(request, unit));
  draft.shorten(
    results.filter(({ message }) => message < currentStart),
    missing(),
  );
  // A margin is worth old results, but neither the current turn nor a pin.
  const needed = excessTokens === undefined ? missing() : excessTokens - draft.freedTokens;
  if (needed <= 0) return;
  const current = draft.preview(
    results.filter(({ message }) => message >= currentStart),
    needed,
  );
  // Where pins have to go all the same, and are enough, the current turn stays whole.
  const isWorthIt = excessTokens === undefined || savedBy(current) >= needed || isTooLongAlone(request);
  if (isWorthIt) draft.take(current);
}

/** Only the provider's own word is enough to part with a pin while anything else could be tried. */
function partWithPins(draft: Draft, { amount: { excessTokens }, order }: Request): void {
  draft.dropUntil(order.last, () =>
    excessTokens === undefined ? !draft.isEmpty : draft.freedTokens >= excessTokens,
  );
}
