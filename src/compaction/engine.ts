/** Runs a strategy: context, watched summarizer, fallback, legality, emergency. Every compaction comes through here. */

import type { Conversation } from '../conversation/format.ts';
import { addUsage } from '../conversation/message.ts';
import type { Summarizer, SummaryRequest } from '../memory/summary-request.ts';
import { requestTokens } from '../tokens/measure.ts';
import { type CompactionAdvice, explainAdvice } from './economics/advice.ts';
import type { RequestSize } from './economics/costs.ts';
import { rescue } from './emergency.ts';
import { defaultSummarizer, type Engine, type RunTurn } from './options.ts';
import {
  type CompactTrigger,
  changeOf,
  notCompacted,
  type Outcome,
  refuseIllegal,
  type StrategyContext,
  strategyContext,
} from './plan/strategy.ts';
import { letOthersRun, watchSummarizer } from './watch.ts';

/** What kind of run it is. Kinds differ in whether they run, never in what is kept. */
export interface RunOrder {
  readonly trigger: CompactTrigger;
  /** In the provider's tokens. Default: the engine's own target. */
  readonly targetTokens?: number | undefined;
  /** Whether the configured summarizer is given a rest, so that our own writes the summary. Default false. */
  readonly isSummarizerPaused?: boolean | undefined;
  /** Whether an emergency may drop rounds without a summary of them. Default true. */
  readonly mayDrop?: boolean | undefined;
}

/** What came of a run. */
export interface Ran {
  readonly outcome: Outcome;
  /** What the chosen strategy itself had to say: an emergency does not hide that it failed. */
  readonly judged: Outcome;
  /** Why the configured summarizer wrote nothing, where it was asked and did not. */
  readonly summarizerFailure?: string | undefined;
  /** Whether a summarizer has written anything in this run. */
  readonly hasSummary?: boolean | undefined;
  readonly advice?: CompactionAdvice | undefined;
}

/**
 * The one way to compact: every library call, command, integration and keeper comes through here. Runs the strategy,
 * lets our own summarizer take over from one that fails, checks the result against the rules of its provider, and helps
 * where the window is as good as full. Nothing that fails leaves anything but the conversation as it was.
 */
export async function runCompaction(engine: Engine, turn: RunTurn, order: RunOrder): Promise<Ran> {
  const context = createContext(engine, turn, order);
  engine.emit({ type: 'compaction-start', trigger: order.trigger, tokens: turn.tokens });
  const ran = await runStrategy(engine, turn.conversation, context);
  const isOpen = isWithoutTarget(engine, turn, order);
  const mayRescue = order.mayDrop !== false && context.signal?.aborted !== true;
  const settled = mayRescue ? await rescue(engine, turn, { outcome: ran.outcome, context }) : ran.outcome;
  const outcome = isOpen ? withoutTarget(settled) : settled;
  const advice = adviseOn(engine, turn, outcome);
  engine.emit({ type: 'compaction-end', trigger: order.trigger, outcome });
  return { ...ran, outcome, judged: settled === ran.outcome ? outcome : ran.outcome, advice };
}

/** Whoever asks for a run without saying how far wants it to do something, whatever the window has room for. */
function isWithoutTarget({ thresholds }: Engine, { tokens }: RunTurn, { targetTokens }: RunOrder): boolean {
  return targetTokens === undefined && tokens <= thresholds.targetTokens;
}

/** A manual run without a target aims at half. Missing that half is no failure, since nobody asked for it. */
function withoutTarget(outcome: Outcome): Outcome {
  if (outcome.status !== 'insufficient' || outcome.best === undefined) return outcome;
  const { best, usage } = outcome;
  return { ...best, status: 'compacted', reason: 'as small as it gets', usage };
}

/** The strategy's own outcome, legal, with a summarizer that failed replaced by ours in the same run. */
async function runStrategy(
  engine: Engine,
  conversation: Conversation,
  context: StrategyContext,
): Promise<Pick<Ran, 'outcome' | 'summarizerFailure' | 'hasSummary'>> {
  const { failure, ...first } = await runOnce(engine, conversation, context);
  const isOurs = context.summarizer === defaultSummarizer;
  if (failure === undefined || isOurs || context.signal?.aborted === true) return first;
  const { reason, message } = failure;
  engine.emit({ type: 'summarizer-failed', summarizer: context.summarizer.name, reason, message });
  const ours = { ...context, summarizer: defaultSummarizer };
  const { failure: _none, ...second } = await runOnce(engine, conversation, ours);
  const usage = addUsage(first.outcome.usage, second.outcome.usage);
  return { ...second, outcome: { ...second.outcome, usage }, summarizerFailure: reason };
}

/**
 * Runs the strategy with a summarizer that is watched. Whoever aborts the run gets the conversation back as it was, whatever
 * the strategy made of the signal: some go on with other means, some throw.
 */
async function runOnce(
  { strategy, summarizerTimeout }: Engine,
  conversation: Conversation,
  context: StrategyContext,
) {
  // Our own summarizer has no replacement and waits for no network, so it gets all the time it needs.
  const isOurs = context.summarizer === defaultSummarizer;
  const watched = watchSummarizer(context.summarizer, isOurs ? undefined : summarizerTimeout);
  const isAborted = () => context.signal?.aborted === true;
  let outcome: Outcome = notCompacted('failed', 'aborted', 'the run was aborted');
  try {
    if (!isAborted())
      outcome = await strategy.compact(conversation, { ...context, summarizer: watched.summarizer });
    if (isAborted()) outcome = notCompacted('failed', 'aborted', 'the run was aborted', outcome.usage);
  } catch (error) {
    if (!isAborted()) throw error;
  }
  return {
    outcome: await refuseIllegal(conversation, outcome),
    failure: watched.failure(),
    hasSummary: watched.hasWritten(),
  };
}

/** What a strategy is told. Targets are in the provider's tokens, strategies count estimated ones. */
export function createContext(engine: Engine, turn: RunTurn, order: RunOrder): StrategyContext {
  const { estimator, pins, summarizer, bindsReasoning, thresholds } = engine;
  const { conversation, tokens, signal, handleFor } = turn;
  const { trigger, targetTokens, isSummarizerPaused = false } = order;
  const estimate = requestTokens(conversation, estimator);
  const scale = tokens > 0 && estimate > 0 ? estimate / tokens : 1;
  const wanted = (targetTokens ?? thresholds.targetTokens) * scale;
  const isOpen = isWithoutTarget(engine, turn, order);
  return strategyContext({
    estimator,
    targetTokens: Math.floor(isOpen ? estimate / 2 : wanted),
    trigger,
    isWindowFull: tokens >= thresholds.triggerTokens,
    pins,
    summarizer: isSummarizerPaused ? defaultSummarizer : summarizer,
    bindsReasoning,
    signal,
    pause: letOthersRun,
    ...(handleFor === undefined ? {} : { handleFor }),
  });
}

/** What a compaction that has to be costs all the same. */
function adviseOn(engine: Engine, turn: RunTurn, outcome: Outcome): CompactionAdvice | undefined {
  const change = changeOf(outcome);
  if (change === undefined) return undefined;
  const summaryCall = outcome.usage === undefined ? undefined : { ...outcome.usage, cachedTokens: 0 };
  const advice = engine.economy?.advise(turn, change.conversation, summaryCall);
  if (advice !== undefined) tellAdvice(engine, advice);
  return advice;
}

/** Tells those who listen what the advice is. */
function tellAdvice({ emit }: Engine, { verdict, reason, quote, spendable }: CompactionAdvice): void {
  const {
    promptTokens: tokens,
    promptTokensAfter: tokensAfter,
    keepCost,
    rewriteCost,
    breakEvenTurns,
  } = quote;
  const costs = { keepCost, rewriteCost, breakEvenTurns, spendable };
  emit({ type: 'compaction-advice', verdict, reason, tokens, tokensAfter, ...costs });
}

/** What came of asking whether a compaction pays. */
export interface Considered extends Ran {
  /** Whether there was a run that says something about the next one; false where it only was not the time. */
  readonly isRun: boolean;
}

/**
 * Compacts below the trigger if that is free or pays: the cache has expired, the prompt is above a price step, or what
 * was saved covers it. It is planned without a model, and no model is paid before the advice has come.
 * @returns undefined when there was no chance, or nothing to plan
 */
export async function compactIfItPays(
  engine: Engine,
  turn: RunTurn,
  { isSummarizerPaused }: Pick<RunOrder, 'isSummarizerPaused'>,
): Promise<Considered | undefined> {
  const { economy } = engine;
  const targetTokens = economy?.targetOf(turn);
  if (economy === undefined || targetTokens === undefined) return undefined;
  const context = createContext(engine, turn, { trigger: 'auto', targetTokens, isSummarizerPaused });
  const { summarizer, requests } = standIn(context.summarizer);
  const { outcome: planned } = await runStrategy(engine, turn.conversation, { ...context, summarizer });
  if (turn.signal?.aborted === true) return { outcome: planned, judged: planned, isRun: true };
  const summaryCall = estimateCalls(requests, turn);
  const change = changeOf(planned);
  const advice = change === undefined ? undefined : economy.advise(turn, change.conversation, summaryCall);
  if (advice?.verdict !== 'compact-now') economy.refuse(turn);
  if (advice === undefined) return undefined;
  tellAdvice(engine, advice);
  if (advice.verdict !== 'compact-now') {
    const outcome = notCompacted('skipped', `economics-${advice.reason}`, explainAdvice(advice));
    return { outcome, judged: outcome, advice, isRun: false };
  }
  engine.emit({ type: 'compaction-start', trigger: 'auto', tokens: turn.tokens });
  const ran =
    summaryCall === undefined ? { outcome: planned } : await runStrategy(engine, turn.conversation, context);
  const outcome = summaryCall === undefined ? planned : checkAgain(engine, turn, ran.outcome);
  engine.emit({ type: 'compaction-end', trigger: 'auto', outcome });
  return { ...ran, outcome, judged: outcome, advice, isRun: true };
}

/**
 * What a model has written may be longer than what was planned with. Its call is paid by now; what is left to ask is
 * whether the rewrite itself is worth it.
 */
function checkAgain(engine: Engine, turn: RunTurn, outcome: Outcome): Outcome {
  const change = changeOf(outcome);
  if (change === undefined) return outcome;
  const advice: CompactionAdvice | undefined = engine.economy?.advise(turn, change.conversation);
  if (advice === undefined || advice.verdict === 'compact-now') return outcome;
  engine.economy?.refuse(turn);
  tellAdvice(engine, advice);
  return notCompacted('insufficient', `economics-${advice.reason}`, explainAdvice(advice), outcome.usage);
}

/** For planning: where a model would be asked, our own summarizer answers, and the requests are noted. */
function standIn(inner: Summarizer): {
  readonly summarizer: Summarizer;
  readonly requests: readonly SummaryRequest[];
} {
  const requests: SummaryRequest[] = [];
  if (!inner.asksModel) return { summarizer: inner, requests };
  const summarize = (request: SummaryRequest) => {
    requests.push(request);
    return defaultSummarizer.summarize(request);
  };
  return { summarizer: { name: inner.name, asksModel: true, summarize }, requests };
}

/** What a summarizer puts around the conversation it sends, and what its model thinks before it writes. */
const BESIDE_TOKENS = 2000;

/**
 * The most that such requests should cost with a model: each may send the whole conversation, read nothing of it from
 * the cache, and write all it may. Undefined when no model would be asked.
 */
function estimateCalls(requests: readonly SummaryRequest[], { tokens }: RunTurn): RequestSize | undefined {
  if (requests.length === 0) return undefined;
  return {
    promptTokens: requests.length * (tokens + BESIDE_TOKENS),
    cachedTokens: 0,
    outputTokens: requests.reduce((sum, { maximumTokens }) => sum + maximumTokens + BESIDE_TOKENS, 0),
  };
}
