import type { Message } from '../../conversation/message.ts';
import { newestRoundsStart } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import type { Edit } from '../plan/edit.ts';
import type { Amount } from './amount.ts';
import { Draft, savedBy } from './draft.ts';
import type { PolicyRules } from './policy.ts';
import { type TextResult, textResults } from './shorten-results.ts';
import { type OrderOfLeaving, orderOfLeaving, type Unit, unitsOf } from './units.ts';

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
