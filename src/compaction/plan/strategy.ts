/** What a strategy is, what it is given, and how it ends a run (`finish`, `notCompacted`). */

import { currentTurnStart, legalCuts, whyNotCut } from '../../conversation/cuts.ts';
import { type Conversation, writeConversation } from '../../conversation/format.ts';
import { isObject } from '../../conversation/json.ts';
import type { Message, Usage } from '../../conversation/message.ts';
import { type OptionSpecs, type OptionValues, readOptions } from '../../conversation/options.ts';
import type { Survival } from '../../memory/facts/facts.ts';
import { memory } from '../../memory/summarizer.ts';
import type { Summarizer } from '../../memory/summary-request.ts';
import { createTokenEstimator, type TokenEstimator } from '../../tokens/estimator.ts';
import type { PinOptions } from './pins.ts';
import { applyPlan, type Edit, type Plan, stripBoundReasoning, type UndoRecord } from './plan.ts';
import { type HandleFor, type Receipt, writeReceipt } from './receipt.ts';

/** What set a compaction off. */
export type CompactTrigger = 'auto' | 'manual' | 'overflow';

/** What a strategy is told besides the conversation. */
export interface StrategyContext {
  readonly estimator: TokenEstimator;
  /** The whole request should have no more tokens than this afterwards. */
  readonly targetTokens: number;
  readonly trigger: CompactTrigger;
  /** Whether the window leaves no choice, so that thresholds of a strategy's own do not count. Default false. */
  readonly isWindowFull?: boolean | undefined;
  readonly pins: PinOptions;
  /** Used by strategies that summarise. */
  readonly summarizer: Summarizer;
  /** Writes summaries without a model: of what `summarizer` cannot be shown. */
  readonly ownSummarizer: Summarizer;
  /** Whether the model refuses its own reasoning behind a prefix that was changed, so that it has to go too. */
  readonly bindsReasoning: boolean;
  /** Lets others run between the parts of long work. Default: it runs without a pause. */
  readonly pause?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal | undefined;
  /**
   * The name under which these messages can be read again once they have left; missing when nothing is kept. Write it
   * where they stood: only names that can be read in what was made are looked after.
   */
  readonly handleFor?: HandleFor | undefined;
}

/** The context of a run. What is left out has a plain value; summaries are written by our own summarizer. */
export function strategyContext(
  given: Pick<StrategyContext, 'targetTokens'> & Partial<StrategyContext>,
): StrategyContext {
  return {
    estimator: given.estimator ?? createTokenEstimator(),
    trigger: 'manual',
    pins: {},
    summarizer: memory,
    ownSummarizer: memory,
    bindsReasoning: false,
    signal: undefined,
    ...given,
  };
}

/**
 * What came of it. Nothing is ever lost: whatever was changed can be undone.
 *
 * - `compacted`: it is as small as it should be
 * - `skipped`: there was nothing to do
 * - `insufficient`: the target cannot be met. `best` is the smallest legal request there is, where it is worth having;
 *   without one nothing was changed
 * - `failed`: something went wrong, and nothing was changed
 */
export type Outcome = Compacted | NotCompacted;

/** Another conversation, how it came about, and the way back. */
export interface Change {
  readonly conversation: Conversation;
  readonly plan: Plan;
  readonly undo: UndoRecord;
  readonly receipt: Receipt;
}

export interface Compacted extends Change {
  readonly status: 'compacted';
  readonly reason: string;
  /** What summaries cost. */
  readonly usage?: Usage | undefined;
}

export interface NotCompacted {
  readonly status: 'skipped' | 'insufficient' | 'failed';
  /** Stable, for programs: `below-target`, `floor-exceeds-target`, `summary-empty`, … */
  readonly reason: string;
  /** For people: what is the matter and what can be done. */
  readonly message: string;
  /** With `insufficient`: the smallest legal request there is, though larger than the target. */
  readonly best?: Change | undefined;
  readonly usage?: Usage | undefined;
}

/** What an outcome changed; undefined when everything is as it was. */
export function changeOf(outcome: Outcome): Change | undefined {
  return outcome.status === 'compacted' ? outcome : outcome.best;
}

/** Looks at a conversation and answers with an outcome. Never changes what it is given, never throws what it can tell. */
export interface Strategy {
  readonly name: string;
  compact(conversation: Conversation, context: StrategyContext): Promise<Outcome>;
  /** Whether an automatic run is due for a reason of the strategy's own, although the window has room. Default: never. */
  isDue?(conversation: Conversation, context: Pick<StrategyContext, 'estimator'>): boolean;
}

/**
 * Makes a strategy: `slidingWindow({ keepLast: 6 })`. What is left out has its default. `createStrategy` does the same
 * for a name that is only known at run time. Written as a method, so that factories with different options fit in one list.
 * @throws RoundfoldError `usage` for an unknown option or a value that does not fit
 */
export type StrategyFactory<Specs extends OptionSpecs> = {
  make(options?: { readonly [Name in keyof Specs]?: OptionValues<Specs>[Name] | undefined }): Strategy;
}['make'];

/** A strategy as the registry lists it: its factory, with what help, configuration and tests are made from. */
export type StrategyDefinition<Specs extends OptionSpecs = OptionSpecs> = StrategyFactory<Specs> & {
  readonly name: string;
  /** One line for help and docs. */
  readonly summary: string;
  readonly options: Specs;
};

/** Makes the factory of a strategy. `create` gets every option, typed and checked. */
export function defineStrategy<const Specs extends OptionSpecs>({
  name,
  summary,
  options,
  create,
}: {
  readonly name: string;
  /** One line for help and docs. */
  readonly summary: string;
  readonly options: Specs;
  create(values: OptionValues<Specs>): Strategy;
}): StrategyDefinition<Specs> {
  const factory: StrategyFactory<Specs> = (given = {}) => create(readOptions(options, given, name));
  // A function has a name of its own, which cannot be assigned.
  Object.defineProperty(factory, 'name', { value: name });
  return Object.assign(factory, { summary, options });
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

/**
 * Applies the edits of one step and accounts for them. `skipped` when there are none, `insufficient` when they free
 * nothing, `failed` when they would part what belongs together or touch the current turn.
 */
export function finish(
  conversation: Conversation,
  edits: readonly Edit[],
  context: StrategyContext,
  options: FinishOptions,
): Outcome {
  const { strategy, usage } = options;
  const nothing = () => notCompacted('skipped', 'nothing-to-do', `${strategy}: nothing to do`, usage);
  if (edits.length === 0) return nothing();
  const fault = faultOf(conversation.messages, edits);
  if (fault !== undefined) return notCompacted('failed', 'illegal-plan', `${strategy}: ${fault}`, usage);
  const bound = context.bindsReasoning ? stripBoundReasoning(conversation.messages, edits) : [];
  const plan = { steps: [bound.length === 0 ? edits : [...edits, ...bound]] };
  const outcome = finishPlan(conversation, plan, context, options);
  // Some results only their provider may write: edits of nothing else change nothing.
  const isSame =
    outcome.receipt.runs.every(({ fate }) => fate === 'verbatim') &&
    edits.every(({ type }) => type !== 'insert');
  if (isSame) return nothing();
  // What is left may have been reasoning alone, which goes with the prefix it was made for.
  if (outcome.conversation.messages.length === 0)
    return notCompacted('insufficient', 'nothing-left', `${strategy}: nothing would be left`, usage);
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
  { estimator, handleFor }: Pick<StrategyContext, 'estimator' | 'handleFor'>,
  { strategy, reason, usage, survival }: FinishOptions,
): Compacted {
  const applied = applyPlan(conversation, plan);
  return {
    status: 'compacted',
    reason,
    conversation: applied.conversation,
    plan,
    undo: applied.undo,
    receipt: writeReceipt(conversation, applied, { estimator, strategy, survival, handleFor }),
    usage,
  };
}

/** What was compacted, as the best there is: for a target that cannot be met. */
export function asBest(
  { reason: _reason, status: _status, usage, ...best }: Compacted,
  message: string,
): NotCompacted {
  return { status: 'insufficient', reason: 'floor-exceeds-target', message, usage, best };
}

/** The outcome of a strategy that aims at a target: one that misses it is `insufficient`, and the result its best. */
export function judgeTarget(outcome: Outcome, targetTokens: number, floor: string): Outcome {
  if (outcome.status !== 'compacted' || outcome.receipt.tokensAfter <= targetTokens) return outcome;
  const { tokensBefore, tokensAfter } = outcome.receipt;
  const sizes = `${tokensAfter} tokens are left of ${tokensBefore}`;
  return asBest(
    outcome,
    `${sizes}, more than the target of ${Math.round(targetTokens)}; most of it is ${floor}`,
  );
}

/** What is wrong with edits that would make a legal list an illegal one; undefined when nothing is. */
function faultOf(messages: readonly Message[], edits: readonly Edit[]): string | undefined {
  const cuts = new Set(legalCuts(messages));
  const current = currentTurnStart(messages);
  for (const edit of edits) {
    if (edit.type === 'drop' || edit.type === 'summarize') {
      const parted = [edit.start, edit.end].find((cut) => !cuts.has(cut));
      if (parted !== undefined) return `nothing may be cut at message ${parted}: ${whyNot(messages, parted)}`;
    }
    if (lastTouched(edit) >= current)
      return `message ${lastTouched(edit)} is part of the current turn, which stays as it is`;
  }
  return undefined;
}

function whyNot(messages: readonly Message[], cut: number): string {
  const [property] = whyNotCut(messages, cut);
  return property?.why ?? 'there is no such place';
}

function lastTouched(edit: Edit): number {
  if (edit.type === 'drop' || edit.type === 'summarize') return edit.end - 1;
  return edit.type === 'insert' ? edit.before - 1 : edit.message;
}

/**
 * The outcome, unless what it would send breaks more rules of its provider than what came in: then nothing is changed. A
 * strategy may come from outside, and ours have mistakes too.
 */
export async function refuseIllegal(before: Conversation, outcome: Outcome): Promise<Outcome> {
  const change = changeOf(outcome);
  if (change === undefined) return outcome;
  const faults = await faultsOf(change.conversation);
  if (faults.length === 0 || faults.length <= (await faultsOf(before)).length) return outcome;
  const [first] = faults;
  const message = `the result would be refused (${first?.path}: ${first?.message}); it was discarded`;
  return notCompacted('failed', 'illegal-output', message, outcome.usage);
}

/** What a provider would refuse. Only the list is judged where no more of a request is known. */
async function faultsOf(
  conversation: Conversation,
): Promise<readonly { readonly path: string; readonly message: string }[]> {
  // Loaded with the first result: the rules are a third of the code, and most turns compact nothing.
  const { findContract } = await import('../../contracts/registry.ts');
  const value = writeConversation(conversation);
  const scope = isObject(value) && !Array.isArray(value) ? 'request' : 'messages';
  const violations = findContract(conversation.format.name)?.check(value, { scope }) ?? [];
  return violations.filter(({ severity }) => severity === 'error');
}
