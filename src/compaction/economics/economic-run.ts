import type { Summarizer, SummaryRequest } from '../../memory/summary-request.ts';
import { defaultSummarizer } from '../default-summarizer.ts';
import { createContext, type Ran, type RunOrder, runStrategy, tellAdvice } from '../engine.ts';
import { changeOf, notCompacted, type Outcome } from '../plan/strategy.ts';
import type { Engine, RunTurn } from '../run-turn.ts';
import type { CompactionAdvice } from './advice.ts';
import { explainAdvice } from './explain.ts';
import type { RequestSize } from './request-cost.ts';

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
