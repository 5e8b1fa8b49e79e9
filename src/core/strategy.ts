import { stripBoundReasoning } from './bound-reasoning.ts';
import type { Edit } from './edit.ts';
import type { Conversation } from './format.ts';
import type { Message, Usage } from './message.ts';
import type { OptionSpecs, OptionValues } from './options.ts';
import type { PinOptions } from './pins.ts';
import { type AppliedPlan, applyPlan, type Plan, type UndoRecord } from './plan.ts';
import { type Receipt, writeReceipt } from './receipt.ts';
import type { Summarizer } from './summarizer.ts';
import type { Survival } from './survival.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** What set a compaction off. */
export type CompactTrigger = 'auto' | 'manual' | 'overflow';

/** What a strategy is told besides the conversation. */
export interface StrategyContext {
  readonly estimator: TokenEstimator;
  /** The whole request should have no more tokens than this afterwards. */
  readonly targetTokens: number;
  readonly trigger: CompactTrigger;
  readonly pins: PinOptions;
  /** Used by strategies that summarise. */
  readonly summarizer: Summarizer;
  /** Whether the model refuses its own reasoning behind a prefix that was changed, so that it has to go too. */
  readonly bindsReasoning: boolean;
  readonly signal: AbortSignal | undefined;
  /**
   * The name under which these messages can be read again once they have left; missing when nothing is kept. Write it
   * where they stood: only names that can be read in what was made are looked after.
   */
  readonly handleFor?: HandleFor | undefined;
}

/** Names messages of the conversation that is compacted. */
export type HandleFor = (messages: readonly Message[]) => string;

/**
 * What came of it. Nothing is ever lost: only `compacted` has another conversation, and that one can be undone.
 *
 * - `compacted`: it is smaller now
 * - `skipped`: there was nothing to do
 * - `insufficient`: what could be done would not have been worth it, or not enough, so nothing was done
 * - `failed`: something went wrong
 */
export type Outcome = Compacted | NotCompacted;

export interface Compacted {
  readonly status: 'compacted';
  readonly reason: string;
  readonly conversation: Conversation;
  readonly plan: Plan;
  readonly undo: UndoRecord;
  readonly receipt: Receipt;
  /** What summaries cost. */
  readonly usage?: Usage | undefined;
}

export interface NotCompacted {
  readonly status: 'skipped' | 'insufficient' | 'failed';
  /** Stable, for programs: `below-target`, `floor-exceeds-target`, `summary-empty`, … */
  readonly reason: string;
  /** For people: what is the matter and what can be done. */
  readonly message: string;
  readonly usage?: Usage | undefined;
}

/** Looks at a conversation and answers with an outcome. Never changes what it is given, never throws what it can tell. */
export interface Strategy {
  readonly name: string;
  compact(conversation: Conversation, context: StrategyContext): Promise<Outcome>;
}

/** A strategy as the registry lists it: help, configuration and tests are made from this. */
export interface StrategyDefinition<Specs extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  /** One line for help and docs. */
  readonly summary: string;
  readonly options: Specs;
  create(values: OptionValues<Specs>): Strategy;
}

/** Infers the options, so that `create` gets them typed and nothing is written twice. */
export function defineStrategy<const Specs extends OptionSpecs>(
  definition: StrategyDefinition<Specs>,
): StrategyDefinition<Specs> {
  return definition;
}

/** An outcome without a change. */
export function notCompacted(
  status: NotCompacted['status'],
  reason: string,
  message: string,
  usage?: Usage,
): NotCompacted {
  return { status, reason, message, usage };
}

export interface FinishOptions {
  readonly strategy: string;
  readonly reason: string;
  readonly usage?: Usage | undefined;
  readonly survival?: readonly Survival[] | undefined;
}

/** Applies the edits of one step and accounts for them. `skipped` when there are none, `insufficient` when they free nothing. */
export function finish(
  conversation: Conversation,
  edits: readonly Edit[],
  context: StrategyContext,
  options: FinishOptions,
): Outcome {
  const { strategy, usage } = options;
  if (edits.length === 0)
    return notCompacted('skipped', 'nothing-to-do', `${strategy}: nothing to do`, usage);
  const bound = context.bindsReasoning ? stripBoundReasoning(conversation.messages, edits) : [];
  const plan = { steps: [bound.length === 0 ? edits : [...edits, ...bound]] };
  const applied = applyPlan(conversation, plan);
  // Some results only their provider may write: edits of nothing else change nothing.
  const isSame =
    applied.fates.every((fate) => fate === 'verbatim') && edits.every(({ type }) => type !== 'insert');
  if (isSame) return notCompacted('skipped', 'nothing-to-do', `${strategy}: nothing to do`, usage);
  // What is left may have been reasoning alone, which goes with the prefix it was made for.
  if (applied.conversation.messages.length === 0)
    return notCompacted('insufficient', 'nothing-left', `${strategy}: nothing would be left`, usage);
  const outcome = toOutcome(conversation, { plan, applied }, context, options);
  const { tokensBefore, tokensAfter } = outcome.receipt;
  // Media is taken out for its bytes; everything else is done for tokens.
  const isForTokens = edits.some(({ type }) => type !== 'strip');
  if (!isForTokens || tokensAfter < tokensBefore) return outcome;
  const message = `${strategy}: ${tokensAfter} tokens would be left of ${tokensBefore}`;
  return notCompacted('insufficient', 'not-smaller', message, usage);
}

/** Applies a whole plan and accounts for it. */
export function finishPlan(
  conversation: Conversation,
  plan: Plan,
  context: StrategyContext,
  options: FinishOptions,
): Compacted {
  return toOutcome(conversation, { plan, applied: applyPlan(conversation, plan) }, context, options);
}

function toOutcome(
  conversation: Conversation,
  { plan, applied }: { readonly plan: Plan; readonly applied: AppliedPlan },
  { estimator }: StrategyContext,
  { strategy, reason, usage, survival }: FinishOptions,
): Compacted {
  return {
    status: 'compacted',
    reason,
    conversation: applied.conversation,
    plan,
    undo: applied.undo,
    receipt: writeReceipt(conversation, applied, { estimator, strategy, survival }),
    usage,
  };
}
