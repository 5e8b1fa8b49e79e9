import { shouldContextCollapse, type Thresholds } from '../core/budget.ts';
import type { CompactionEvent } from '../core/events.ts';
import type { Conversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import type { PinOptions } from '../core/pins.ts';
import { requestTokens } from '../core/receipt.ts';
import {
  type CompactTrigger,
  type HandleFor,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import type { TokenEstimator } from '../core/token-estimator.ts';
import type { CompactionAdvice } from '../economics/advice.ts';
import type { Economy, Turn } from './economy.ts';

/** What all runs of a compactor have in common. */
export interface Engine {
  readonly thresholds: Thresholds;
  readonly estimator: TokenEstimator;
  readonly strategy: Strategy;
  readonly emergency: Strategy;
  readonly summarizer: Summarizer;
  readonly pins: PinOptions;
  readonly bindsReasoning: boolean;
  /** Undefined: nobody asks what anything costs. */
  readonly economy: Economy | undefined;
  readonly emit: (event: CompactionEvent) => void;
}

/** A turn with the means to stop it. */
export interface RunTurn extends Turn {
  readonly signal: AbortSignal | undefined;
  /** Names what leaves, where it is kept. */
  readonly handleFor?: HandleFor | undefined;
}

/** What came of a run. */
export interface Ran {
  readonly outcome: Outcome;
  /** What the chosen strategy itself had to say: an emergency does not hide that it failed. */
  readonly judged: Outcome;
  readonly advice?: CompactionAdvice | undefined;
}

/** Compacts, whatever it costs. */
export async function compactNow(engine: Engine, turn: RunTurn, trigger: CompactTrigger): Promise<Ran> {
  const { thresholds, strategy, emit } = engine;
  const context = createContext(engine, turn, { trigger, targetTokens: thresholds.targetTokens });
  emit({ type: 'compaction-start', trigger, tokens: turn.tokens });
  const judged = await compactUnlessAborted(strategy, turn.conversation, context);
  const outcome = (await rescue(engine, turn, { judged, context })) ?? judged;
  const advice = adviseOn(engine, turn, outcome);
  emit({ type: 'compaction-end', trigger, outcome });
  return { outcome, judged, advice };
}

/** What a strategy is told. Targets are in the provider's tokens, strategies count estimated ones. */
export function createContext(
  { estimator, pins, summarizer, bindsReasoning }: Engine,
  { conversation, tokens, signal, handleFor }: RunTurn,
  { trigger, targetTokens }: { readonly trigger: CompactTrigger; readonly targetTokens: number },
): StrategyContext {
  const estimate = requestTokens(conversation, estimator);
  const scale = tokens > 0 && estimate > 0 ? estimate / tokens : 1;
  const target = Number.isFinite(targetTokens) ? targetTokens * scale : estimate / 2;
  return {
    estimator,
    targetTokens: Math.floor(target),
    trigger,
    pins,
    summarizer,
    bindsReasoning,
    signal,
    ...(handleFor === undefined ? {} : { handleFor }),
  };
}

/**
 * Whoever aborts a run gets the conversation back as it was, whatever the strategy made of the signal: some go on with
 * other means, some throw.
 */
export async function compactUnlessAborted(
  strategy: Strategy,
  conversation: Conversation,
  context: StrategyContext,
): Promise<Outcome> {
  const isAborted = () => context.signal?.aborted === true;
  const aborted = (usage?: Usage) => notCompacted('failed', 'aborted', 'the run was aborted', usage);
  if (isAborted()) return aborted();
  try {
    const outcome = await strategy.compact(conversation, context);
    return isAborted() ? aborted(outcome.usage) : outcome;
  } catch (error) {
    if (isAborted()) return aborted();
    throw error;
  }
}

/** The emergency: only when the window is as good as full, nothing else helped, and this does. */
async function rescue(
  { emergency, thresholds: { windowTokens } }: Engine,
  { conversation, tokens }: RunTurn,
  { judged, context }: { readonly judged: Outcome; readonly context: StrategyContext },
): Promise<Outcome | undefined> {
  // Off means off, also in an emergency.
  const isOver = judged.status === 'compacted' || judged.reason === 'off';
  if (isOver || context.signal?.aborted === true) return undefined;
  if (!shouldContextCollapse(tokens, windowTokens)) return undefined;
  const outcome = await emergency.compact(conversation, context);
  if (outcome.status !== 'compacted') return undefined;
  const left = tokens * (outcome.receipt.tokensAfter / Math.max(1, outcome.receipt.tokensBefore));
  return shouldContextCollapse(left, windowTokens) ? undefined : outcome;
}

/** What a compaction that has to be costs all the same. */
function adviseOn(engine: Engine, turn: RunTurn, outcome: Outcome): CompactionAdvice | undefined {
  if (outcome.status !== 'compacted') return undefined;
  const summaryCall = outcome.usage === undefined ? undefined : { ...outcome.usage, cachedTokens: 0 };
  const advice = engine.economy?.advise(turn, outcome.conversation, summaryCall);
  if (advice !== undefined) tellAdvice(engine, advice);
  return advice;
}

/** Tells those who listen what the advice is. */
export function tellAdvice({ emit }: Engine, { verdict, reason, quote, spendable }: CompactionAdvice): void {
  const { promptTokens: tokens, promptTokensAfter: tokensAfter } = quote;
  const { keepCost, rewriteCost, breakEvenTurns } = quote;
  emit({
    type: 'compaction-advice',
    verdict,
    reason,
    tokens,
    tokensAfter,
    keepCost,
    rewriteCost,
    breakEvenTurns,
    spendable,
  });
}
