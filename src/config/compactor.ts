import {
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  initialAutoCompactState,
  RAPID_REFILL,
} from '../core/auto-compact.ts';
import { type Thresholds, thresholdsFor, tokenWarningState } from '../core/budget.ts';
import type { CompactionEvent } from '../core/events.ts';
import { type Conversation, writeConversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import type { PinOptions } from '../core/pins.ts';
import { notCompacted, type Outcome, type Strategy } from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { createTokenEstimator } from '../core/token-estimator.ts';
import { measureContext } from '../core/tokens.ts';
import type { CompactionAdvice } from '../economics/advice.ts';
import { type CostLedger, emptyLedger } from '../economics/ledger.ts';
import { type PriceSet, priceSetOf } from '../economics/price-set.ts';
import { readConversation } from '../formats/registry.ts';
import { contextWindowForModel, findModel } from '../models/catalog.ts';
import type { ModelInfo } from '../models/model-info.ts';
import { tokenProfileForModel } from '../models/token-profiles.ts';
import { createStrategy } from '../strategies/registry.ts';
import { compactNow, type Engine, type Ran, type RunTurn } from './compaction-run.ts';
import { defaultSummarizer } from './default-summarizer.ts';
import { compactIfItPays } from './economic-run.ts';
import { Economy } from './economy.ts';

export interface CompactorOptions {
  /** The model that the conversation is for: its window, its way of counting, its rules, its prices. */
  readonly model?: string | undefined;
  /** Size of the window, instead of the model's. 0 has no limit. */
  readonly windowTokens?: number | undefined;
  /** Wire format, when it shall not be recognised. */
  readonly format?: string | undefined;
  /** Name of a strategy, or one of your own. Default `ladder`. */
  readonly strategy?: string | Strategy | undefined;
  /** Options of a strategy that is given by name. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Writes the summaries. Default: the digest, which needs no model. */
  readonly summarizer?: Summarizer | undefined;
  readonly pins?: PinOptions | undefined;
  /** When an automatic run is due; it can only be made earlier than it is by itself. */
  readonly triggerTokens?: number | undefined;
  /** How small a run tries to get. */
  readonly targetTokens?: number | undefined;
  /** What is remembered between turns, from a store. */
  readonly state?: AutoCompactState | undefined;
  /**
   * Whether to ask what a compaction costs. Below the trigger it then runs already when it is free or pays, for calls
   * that tell `idleSeconds`: after a pause in which the prompt cache has expired, above a price step for long prompts,
   * or when what was saved covers it. A strategy may be run for a plan that is not applied. Does nothing without prices.
   * Default true.
   */
  readonly economy?: boolean | undefined;
  /** What tokens cost and how they are cached. Default: the list prices of the model, where they are known. */
  readonly prices?: PriceSet | undefined;
  /** What was paid and saved so far, from a store. */
  readonly ledger?: CostLedger | undefined;
  readonly onEvent?: ((event: CompactionEvent) => void) | undefined;
}

/** What came of a call: the value to send, and what happened. */
export interface CompactResult<Value> {
  /** The very value that was given when nothing was to be done. */
  readonly value: Value;
  readonly outcome: Outcome;
  /** What the compaction costs and why it was done or not, where one was planned, prices are known and `idleSeconds` was told. */
  readonly advice?: CompactionAdvice | undefined;
}

export interface CallOptions {
  /** What the provider reported with the newest response. */
  readonly usage?: Usage | undefined;
  /** Seconds since the last request was sent, by which its prompt cache expires. Default: nobody knows. */
  readonly idleSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps one conversation inside its window. Make one for each conversation and keep it as long. */
export interface Compactor {
  /** Compacts now, whatever the size and the costs. */
  compact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /**
   * Compacts when the window is full enough, or when it pays (see `economy`). Costs next to nothing otherwise, and gives
   * the same value back. Call it once before each request, and go on from the value it gives.
   */
  maybeCompact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /** What to store with the conversation. */
  readonly state: AutoCompactState;
  /** What the conversation has cost and what compactions have saved, to store with it; stays as it is without prices. */
  readonly ledger: CostLedger;
  readonly thresholds: Thresholds;
}

/** Makes a compactor. Values are request bodies or lists of messages of any wire format. */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  const engine = createEngine(options);
  const { economy } = engine;
  let state = options.state ?? initialAutoCompactState;

  return {
    thresholds: engine.thresholds,
    get state() {
      return state;
    },
    get ledger() {
      return economy?.ledger ?? options.ledger ?? emptyLedger;
    },
    async compact(value, call = {}) {
      const turn = readTurn(engine, readConversation(value, options.format), call);
      const ran = await compactNow(engine, turn, 'manual');
      // By hand as often as somebody likes: it ends a pause, and is no sign of a window that fills too fast.
      if (ran.judged.status === 'compacted') state = countCompaction(initialAutoCompactState, state);
      economy?.settleUnsent(turn, ran.outcome);
      return toResult(value, ran);
    },
    async maybeCompact(value, call = {}) {
      const turn = readTurn(engine, readConversation(value, options.format), call);
      warn(engine, turn.tokens);
      const { isRun, ...ran } = await compactIfDue(engine, turn, state);
      const before = state;
      state = isRun ? afterRun(state, ran.judged, call) : afterRest(state, ran.outcome);
      if (state.pausedTurns > before.pausedTurns) {
        const { reason = 'unknown', pausedTurns: turns } = state;
        engine.emit({ type: 'compaction-paused', reason, turns });
      }
      if (call.signal?.aborted === true) economy?.settleUnsent(turn, ran.outcome);
      else economy?.settle(turn, ran.outcome);
      return toResult(value, ran);
    },
  };
}

/** What all runs with these options have in common. */
export function createEngine(options: CompactorOptions): Engine {
  const info = options.model === undefined ? undefined : findModel(options.model);
  const thresholds = thresholdsFor(windowOf(options, info), {
    maxOutputTokens: info?.maxOutputTokens,
    triggerTokens: options.triggerTokens,
    targetTokens: options.targetTokens,
  });
  const { strategy: chosen = 'ladder', ledger } = options;
  const estimator = createTokenEstimator({ profile: tokenProfileForModel(options.model) });
  const prices = options.prices ?? priceSetOf(info ?? {});
  const isAsked = options.economy !== false && prices !== undefined;
  return {
    thresholds,
    estimator,
    strategy: typeof chosen === 'string' ? createStrategy(chosen, options.options) : chosen,
    emergency: createStrategy('collapse'),
    summarizer: options.summarizer ?? defaultSummarizer,
    pins: options.pins ?? {},
    bindsReasoning: info?.bindsReasoning === true,
    economy: isAsked ? new Economy({ prices, thresholds, estimator, ledger }) : undefined,
    emit: (event) => options.onEvent?.(event),
  };
}

function windowOf({ windowTokens, model }: CompactorOptions, info: ModelInfo | undefined): number {
  return windowTokens ?? info?.maxInputTokens ?? (model === undefined ? 0 : contextWindowForModel(model));
}

/** A report that is far from our own estimate is somebody else's, or of another turn. */
const TRUSTED_FACTOR = 2;

function readTurn({ estimator }: Engine, conversation: Conversation, call: CallOptions): RunTurn {
  const { usage, idleSeconds, signal } = call;
  const { tokens } = measureContext(conversation, estimator);
  const reported = usage === undefined ? 0 : usage.promptTokens + usage.outputTokens;
  const isTrusted = reported >= tokens / TRUSTED_FACTOR && reported <= tokens * TRUSTED_FACTOR;
  return { conversation, tokens: isTrusted ? reported : tokens, idleSeconds, signal };
}

function warn({ thresholds: { windowTokens }, emit }: Engine, tokens: number): void {
  const level = tokenWarningState(tokens, windowTokens);
  if (level !== 'ok') emit({ type: 'token-warning', level, tokens, windowTokens });
}

/** From the trigger on there is no choice; below it, money has a say. */
async function compactIfDue(
  engine: Engine,
  turn: RunTurn,
  { pausedTurns, reason }: AutoCompactState,
): Promise<Ran & { readonly isRun: boolean }> {
  const { triggerTokens } = engine.thresholds;
  const isDue = turn.tokens >= triggerTokens;
  if (pausedTurns === 0) {
    if (isDue) return { ...(await compactNow(engine, turn, 'auto')), isRun: true };
    const considered = await compactIfItPays(engine, turn);
    if (considered !== undefined) return considered;
  }
  // Only money is to be saved then: what needs no model goes on.
  if (isDue && reason === RAPID_REFILL)
    return {
      ...(await compactNow({ ...engine, summarizer: defaultSummarizer }, turn, 'auto')),
      isRun: false,
    };
  const paused = `automatic compaction is paused for ${pausedTurns} more turns (${reason}); a manual one still runs`;
  const outcome = isDue
    ? notCompacted('skipped', 'paused', paused)
    : notCompacted(
        'skipped',
        'below-trigger',
        `${turn.tokens} tokens, below the trigger of ${triggerTokens}`,
      );
  return { outcome, judged: outcome, isRun: false };
}

/** The state after a turn without a run that says something about the next one. */
function afterRest(state: AutoCompactState, outcome: Outcome): AutoCompactState {
  const rested = afterTurn(state);
  return outcome.status === 'compacted' ? countCompaction(rested, state) : rested;
}

function countCompaction(next: AutoCompactState, { compactionCount }: AutoCompactState): AutoCompactState {
  return { ...next, compactionCount: compactionCount + 1 };
}

/** The state after an automatic run. One that the caller aborted says nothing about the next. */
function afterRun(state: AutoCompactState, judged: Outcome, { signal }: CallOptions): AutoCompactState {
  return signal?.aborted === true && judged.status !== 'compacted' ? state : afterOutcome(state, judged);
}

function toResult<Value>(value: Value, { outcome, advice }: Ran): CompactResult<Value> {
  const told = advice === undefined ? {} : { advice };
  if (outcome.status !== 'compacted') return { value, outcome, ...told };
  return { value: writeConversation(outcome.conversation) as Value, outcome, ...told }; // written in the shape it was read in
}
