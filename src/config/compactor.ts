import {
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  initialAutoCompactState,
} from '../core/auto-compact.ts';
import { shouldContextCollapse, type Thresholds, thresholdsFor, tokenWarningState } from '../core/budget.ts';
import type { CompactionEvent } from '../core/events.ts';
import { type Conversation, writeConversation } from '../core/format.ts';
import type { Usage } from '../core/message.ts';
import type { PinOptions } from '../core/pins.ts';
import { requestTokens } from '../core/receipt.ts';
import {
  type CompactTrigger,
  notCompacted,
  type Outcome,
  type Strategy,
  type StrategyContext,
} from '../core/strategy.ts';
import type { Summarizer } from '../core/summarizer.ts';
import { createTokenEstimator, type TokenEstimator } from '../core/token-estimator.ts';
import { measureContext } from '../core/tokens.ts';
import { readConversation } from '../formats/registry.ts';
import { contextWindowForModel, findModel } from '../models/catalog.ts';
import { tokenProfileForModel } from '../models/token-profiles.ts';
import { createStrategy } from '../strategies/registry.ts';
import { outline } from '../summarizers/outline.ts';

export interface CompactorOptions {
  /** The model that the conversation is for: its window, its way of counting, its rules. */
  readonly model?: string | undefined;
  /** Size of the window, instead of the model's. 0 has no limit. */
  readonly windowTokens?: number | undefined;
  /** Wire format, when it shall not be recognised. */
  readonly format?: string | undefined;
  /** Name of a strategy, or one of your own. Default `ladder`. */
  readonly strategy?: string | Strategy | undefined;
  /** Options of a strategy that is given by name. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Writes the summaries. Default: `outline`, which needs no model. */
  readonly summarizer?: Summarizer | undefined;
  readonly pins?: PinOptions | undefined;
  /** When an automatic run is due; it can only be made earlier than it is by itself. */
  readonly triggerTokens?: number | undefined;
  /** How small a run tries to get. */
  readonly targetTokens?: number | undefined;
  /** What is remembered between turns, from a store. */
  readonly state?: AutoCompactState | undefined;
  readonly onEvent?: ((event: CompactionEvent) => void) | undefined;
}

/** What came of a call: the value to send, and what happened. */
export interface CompactResult<Value> {
  /** The very value that was given when nothing was to be done. */
  readonly value: Value;
  readonly outcome: Outcome;
}

export interface CallOptions {
  /** What the provider reported with the newest response. */
  readonly usage?: Usage | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps one conversation inside its window. Make one for each conversation and keep it as long. */
export interface Compactor {
  /** Compacts now, whatever the size. */
  compact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /** Compacts when the window is full enough. Costs next to nothing otherwise, and gives the same value back. */
  maybeCompact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /** What to store with the conversation. */
  readonly state: AutoCompactState;
  readonly thresholds: Thresholds;
}

/** Makes a compactor. Values are request bodies or lists of messages of any wire format. */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  const info = options.model === undefined ? undefined : findModel(options.model);
  const windowTokens =
    options.windowTokens ??
    info?.maxInputTokens ??
    (options.model === undefined ? 0 : contextWindowForModel(options.model));
  const thresholds = thresholdsFor(windowTokens, {
    maxOutputTokens: info?.maxOutputTokens,
    triggerTokens: options.triggerTokens,
    targetTokens: options.targetTokens,
  });
  const { strategy: chosen = 'ladder' } = options;
  const run: Run = {
    options,
    thresholds,
    estimator: createTokenEstimator({ profile: tokenProfileForModel(options.model) }),
    strategy: typeof chosen === 'string' ? createStrategy(chosen, options.options) : chosen,
    emergency: createStrategy('collapse'),
    bindsReasoning: info?.bindsReasoning === true,
    emit: (event) => options.onEvent?.(event),
  };
  let state = options.state ?? initialAutoCompactState;

  return {
    thresholds,
    get state() {
      return state;
    },
    async compact(value, call = {}) {
      const conversation = readConversation(value, options.format);
      const { outcome, judged } = await compactNow(run, conversation, 'manual', call);
      if (judged.status === 'compacted') state = afterOutcome(state, judged);
      return toResult(value, outcome);
    },
    async maybeCompact(value, call = {}) {
      const conversation = readConversation(value, options.format);
      const tokens = contextTokens(run, conversation, call.usage);
      warn(run, tokens);
      const refusal = whyNotNow(run, tokens, state);
      if (refusal !== undefined) {
        state = afterTurn(state);
        return toResult(value, refusal);
      }
      const { outcome, judged } = await compactNow(run, conversation, 'auto', call);
      const before = state;
      state = afterRun(state, judged, call);
      if (state.pausedTurns > before.pausedTurns) {
        run.emit({ type: 'compaction-paused', reason: state.reason ?? 'unknown', turns: state.pausedTurns });
      }
      return toResult(value, outcome);
    },
  };
}

interface Run {
  readonly options: CompactorOptions;
  readonly thresholds: Thresholds;
  readonly estimator: TokenEstimator;
  readonly strategy: Strategy;
  readonly emergency: Strategy;
  readonly bindsReasoning: boolean;
  readonly emit: (event: CompactionEvent) => void;
}

/** A report that is far from our own estimate is somebody else's, or of another turn. */
const TRUSTED_FACTOR = 2;

function contextTokens({ estimator }: Run, conversation: Conversation, usage: Usage | undefined): number {
  const { tokens } = measureContext(conversation, estimator);
  const reported = usage === undefined ? 0 : usage.promptTokens + usage.outputTokens;
  const isTrusted = reported >= tokens / TRUSTED_FACTOR && reported <= tokens * TRUSTED_FACTOR;
  return isTrusted ? reported : tokens;
}

function warn({ thresholds: { windowTokens }, emit }: Run, tokens: number): void {
  const level = tokenWarningState(tokens, windowTokens);
  if (level !== 'ok') emit({ type: 'token-warning', level, tokens, windowTokens });
}

function whyNotNow({ thresholds }: Run, tokens: number, state: AutoCompactState): Outcome | undefined {
  if (tokens < thresholds.triggerTokens) {
    return notCompacted(
      'skipped',
      'below-trigger',
      `${tokens} tokens, below the trigger of ${thresholds.triggerTokens}`,
    );
  }
  if (state.pausedTurns > 0) {
    const message = `automatic compaction is paused for ${state.pausedTurns} more turns (${state.reason}); a manual one still runs`;
    return notCompacted('skipped', 'paused', message);
  }
  return undefined;
}

/** What came of a run, and what the chosen strategy itself had to say: an emergency does not hide that it failed. */
interface Ran {
  readonly outcome: Outcome;
  readonly judged: Outcome;
}

async function compactNow(
  run: Run,
  conversation: Conversation,
  trigger: CompactTrigger,
  call: CallOptions,
): Promise<Ran> {
  const { estimator, options, thresholds, strategy, emit } = run;
  const tokens = contextTokens(run, conversation, call.usage);
  const estimate = requestTokens(conversation, estimator);
  // Targets are in the provider's tokens, strategies count estimated ones.
  const scale = tokens > 0 && estimate > 0 ? estimate / tokens : 1;
  const target = Number.isFinite(thresholds.targetTokens) ? thresholds.targetTokens * scale : estimate / 2;
  const context: StrategyContext = {
    estimator,
    targetTokens: Math.floor(target),
    trigger,
    pins: options.pins ?? {},
    summarizer: options.summarizer ?? outline,
    bindsReasoning: run.bindsReasoning,
    signal: call.signal,
  };
  emit({ type: 'compaction-start', trigger, tokens });
  const judged = await compactUnlessAborted(strategy, conversation, context);
  const outcome = (await rescue(run, conversation, { judged, context, tokens })) ?? judged;
  emit({ type: 'compaction-end', trigger, outcome });
  return { outcome, judged };
}

/**
 * Whoever aborts a run gets the conversation back as it was, whatever the strategy made of the signal: some go on with
 * other means, some throw.
 */
async function compactUnlessAborted(
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

/** The state after an automatic run. One that the caller aborted says nothing about the next. */
function afterRun(state: AutoCompactState, judged: Outcome, { signal }: CallOptions): AutoCompactState {
  return signal?.aborted === true && judged.status !== 'compacted' ? state : afterOutcome(state, judged);
}

/** The emergency: only when the window is as good as full, nothing else helped, and this does. */
async function rescue(
  { emergency, thresholds: { windowTokens } }: Run,
  conversation: Conversation,
  { judged, context, tokens }: { judged: Outcome; context: StrategyContext; tokens: number },
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

function toResult<Value>(value: Value, outcome: Outcome): CompactResult<Value> {
  if (outcome.status !== 'compacted') return { value, outcome };
  return { value: writeConversation(outcome.conversation) as Value, outcome }; // written in the shape it was read in
}
