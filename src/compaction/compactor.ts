/** createCompactor: keeps one conversation inside its context window. */

import { type Conversation, writeConversation } from '../conversation/format.ts';
import type { Message, Usage } from '../conversation/message.ts';
import { readSummaryMessage } from '../conversation/summary-message.ts';
import { readConversation } from '../formats/registry.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { measureContext, tokensOf } from '../tokens/measure.ts';
import { shouldContextCollapse, type Thresholds, tokenWarningState } from '../tokens/thresholds.ts';
import {
  type AutoCompactState,
  afterRun,
  afterTurn,
  countCompaction,
  forgetFailures,
  initialAutoCompactState,
  isSummarizerPaused,
  pausedOutcome,
} from './breaker.ts';
import { nested, recursionGuard } from './decorators/with-recursion-guard.ts';
import type { CompactionAdvice } from './economics/advice.ts';
import { type CostLedger, emptyLedger } from './economics/ledger.ts';
import { compactIfItPays, type Ran, runCompaction } from './engine.ts';
import {
  type CompactorOptions,
  checkFormat,
  checkOptionNames,
  createEngine,
  type Engine,
  type RunTurn,
} from './options.ts';
import { type UndoRecord, undoPlan } from './plan/plan.ts';
import { changeOf, notCompacted, type Outcome } from './plan/strategy.ts';

/** What came of a call: the value to send, and what happened. */
export interface CompactResult<Value> {
  /** What to send: the very value that was given when nothing was to be done. */
  readonly value: Value;
  readonly outcome: Outcome;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  /** Estimated tokens that have left the request, less what was put in their place. */
  readonly tokensFreed: number;
  /** What stands for the messages that left; undefined when there is no summary. */
  readonly summary: string | undefined;
  /** What the compaction costs and why it was done or not, where one was planned and prices are known. */
  readonly advice?: CompactionAdvice | undefined;
}

export interface CallOptions {
  /** What the provider reported with the newest response in the list. */
  readonly usage?: Usage | undefined;
  /** Seconds since the last request was sent, by which its prompt cache expires. Default: since the last call. */
  readonly idleSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps one conversation inside its window. Make one for each conversation and keep it as long. */
export interface Compactor {
  /** Compacts now, whatever the size and the costs. */
  compact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /**
   * Compacts when the window is full enough, or when it pays (see `economy`). Costs next to nothing otherwise, and gives
   * the same value back. Call it once before each request, and go on from the value it gives. A call from inside a
   * summary that is being written, by a provider that comes through here for instance, changes nothing.
   */
  maybeCompact<Value>(value: Value, options?: CallOptions): Promise<CompactResult<Value>>;
  /** What to store with the conversation. */
  readonly state: AutoCompactState;
  /** What the conversation has cost and what compactions have saved, to store with it; stays as it is without prices. */
  readonly ledger: CostLedger;
  readonly thresholds: Thresholds;
}

/**
 * Makes a compactor. Values are request bodies or lists of messages of any wire format.
 * @throws RoundfoldError `usage` for options that are unknown or cannot be meant
 */
export function createCompactor(options: CompactorOptions = {}): Compactor {
  checkOptionNames(options);
  checkFormat(options.format);
  return new ConversationCompactor(options);
}

class ConversationCompactor implements Compactor {
  readonly #options: CompactorOptions;
  readonly #engine: Engine;
  #state: AutoCompactState;
  /** When the last request was about to be sent, by the clock. */
  #lastRequest: number | undefined;
  /** A compactor has one conversation: whatever comes while it is compacted comes from inside. */
  readonly #enter = recursionGuard(() => true);
  /** The newest response when the last compaction ran: what was reported with it is of a longer list. */
  #responseBefore: unknown;
  /** What an emergency took out, until a compaction can do better. */
  #emergency: Emergency | undefined;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#engine = createEngine(options);
    this.#state = options.state ?? initialAutoCompactState;
  }

  get thresholds(): Thresholds {
    return this.#engine.thresholds;
  }

  get state(): AutoCompactState {
    return this.#state;
  }

  get ledger(): CostLedger {
    return this.#engine.economy?.ledger ?? this.#options.ledger ?? emptyLedger;
  }

  compact<Value>(value: Value, call: CallOptions = {}): Promise<CompactResult<Value>> {
    return this.#alone(value, async (conversation) => {
      const turn = this.#readTurn(this.#withoutEmergency(conversation), call);
      const ran = await runCompaction(this.#engine, turn, { trigger: 'manual' });
      // A manual run ends every pause, and says nothing about how fast the window fills.
      if (changeOf(ran.judged) !== undefined) this.#state = countCompaction(forgetFailures(this.#state));
      this.#engine.economy?.settleUnsent(turn, ran.outcome);
      this.#remember(turn.conversation, ran);
      return ran;
    });
  }

  maybeCompact<Value>(value: Value, call: CallOptions = {}): Promise<CompactResult<Value>> {
    return this.#alone(value, async (conversation) => {
      const turn = this.#readTurn(conversation, call);
      this.#warn(turn.tokens);
      const { isRun, ...ran } = await this.#compactIfDue(turn, call);
      this.#setState(isRun ? this.#afterRun(ran, call) : this.#afterRest(ran.outcome));
      const { economy } = this.#engine;
      if (call.signal?.aborted === true) economy?.settleUnsent(turn, ran.outcome);
      else economy?.settle(turn, ran.outcome);
      this.#remember(turn.conversation, ran);
      this.#lastRequest = this.#now();
      return ran;
    });
  }

  /** One run at a time: a provider that comes through here to write the summary would never end. */
  async #alone<Value>(
    value: Value,
    run: (conversation: Conversation) => Promise<Pick<Ran, 'outcome' | 'advice'>>,
  ): Promise<CompactResult<Value>> {
    const conversation = readConversation(value, this.#options.format);
    const leave = this.#enter(conversation);
    if (leave === undefined) return toResult(value, conversation, { outcome: nested('compactor') });
    try {
      return toResult(value, conversation, await run(conversation));
    } finally {
      leave();
    }
  }

  #readTurn(conversation: Conversation, { usage, idleSeconds, signal }: CallOptions): RunTurn {
    const { estimator } = this.#engine;
    const response = newestResponse(conversation.messages);
    const isStale = response !== undefined && response === this.#responseBefore;
    const tokens = measureRequest(conversation, isStale ? undefined : usage, estimator);
    return { conversation, tokens, idleSeconds: idleSeconds ?? this.#idleSeconds(), signal };
  }

  /** 0 before the first request: a cache that may have expired is taken to be warm. */
  #idleSeconds(): number {
    return this.#lastRequest === undefined ? 0 : Math.max(0, this.#now() - this.#lastRequest) / 1000;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #warn(tokens: number): void {
    const { thresholds, emit } = this.#engine;
    const { windowTokens } = thresholds;
    const level = tokenWarningState(tokens, windowTokens);
    if (level !== 'ok') emit({ type: 'token-warning', level, tokens, windowTokens });
  }

  /** From the trigger on there is no choice; below it, money has a say. */
  async #compactIfDue(turn: RunTurn, call: CallOptions): Promise<Ran & { readonly isRun: boolean }> {
    const engine = this.#engine;
    const { triggerTokens, windowTokens } = engine.thresholds;
    const paused = { isSummarizerPaused: isSummarizerPaused(this.#state) };
    const isDue = turn.tokens >= triggerTokens || engine.strategy.isDue?.(turn.conversation, engine) === true;
    // A pause saves work that came to nothing; it is no reason to send what will be refused.
    const isPaused = this.#state.pausedTurns > 0 && !shouldContextCollapse(turn.tokens, windowTokens);
    if (!isPaused && isDue) {
      const whole = this.#withoutEmergency(turn.conversation);
      const due = whole === turn.conversation ? turn : this.#readTurn(whole, { ...call, usage: undefined });
      return { ...(await runCompaction(engine, due, { trigger: 'auto', ...paused })), isRun: true };
    }
    const considered = isPaused ? undefined : await compactIfItPays(engine, turn, paused);
    if (considered !== undefined) return considered;
    const belowTrigger = `${turn.tokens} tokens, below the trigger of ${triggerTokens}`;
    const outcome = isDue
      ? pausedOutcome('automatic compaction', this.#state)
      : notCompacted('skipped', 'below-trigger', belowTrigger);
    return { outcome, judged: outcome, isRun: false };
  }

  #afterRun({ judged, summarizerFailure }: Ran, { signal }: CallOptions): AutoCompactState {
    return afterRun(this.#state, judged, { signal, summarizerFailure });
  }

  /** The state after a turn without a run that says something about the next one. */
  #afterRest(outcome: Outcome): AutoCompactState {
    const rested = afterTurn(this.#state);
    return changeOf(outcome) === undefined ? rested : countCompaction(rested);
  }

  #setState(next: AutoCompactState): void {
    const before = this.#state;
    this.#state = next;
    const { emit } = this.#engine;
    const { reason = 'unknown', pausedTurns: turns, summarizer } = next;
    if (turns > before.pausedTurns) emit({ type: 'compaction-paused', reason, turns });
    if (summarizer !== undefined && summarizer.pausedTurns > (before.summarizer?.pausedTurns ?? 0))
      emit({ type: 'summarizer-paused', reason: summarizer.reason, turns: summarizer.pausedTurns });
  }

  #remember({ messages }: Conversation, { outcome, judged }: Ran): void {
    const change = changeOf(outcome);
    if (change === undefined) return;
    this.#responseBefore = newestResponse(messages);
    this.#emergency =
      outcome === judged ? undefined : { view: change.conversation.messages, undo: change.undo };
  }

  /** The conversation with what the last emergency took out, where it goes on from there. */
  #withoutEmergency(conversation: Conversation): Conversation {
    const emergency = this.#emergency;
    const goesOn =
      emergency?.view.every(({ raw }, index) => raw === conversation.messages[index]?.raw) === true;
    return emergency !== undefined && goesOn ? undoPlan(conversation, emergency.undo) : conversation;
  }
}

interface Emergency {
  readonly view: readonly Message[];
  readonly undo: UndoRecord;
}

function newestResponse(messages: readonly Message[]): unknown {
  return messages.findLast(({ role }) => role === 'assistant')?.raw;
}

function toResult<Value>(
  value: Value,
  conversation: Conversation,
  { outcome, advice }: Pick<Ran, 'outcome' | 'advice'>,
): CompactResult<Value> {
  const change = changeOf(outcome);
  const { messages } = change?.conversation ?? conversation;
  const summaries = change === undefined ? [] : messages.map(readSummaryMessage);
  return {
    value: change === undefined ? value : (writeConversation(change.conversation) as Value), // in the shape it was read in
    outcome,
    messagesBefore: conversation.messages.length,
    messagesAfter: messages.length,
    tokensFreed: change === undefined ? 0 : change.receipt.tokensBefore - change.receipt.tokensAfter,
    summary: summaries.findLast((text) => text !== undefined),
    ...(advice === undefined ? {} : { advice }),
  };
}

/** A report that differs from our own estimate by more than this factor is of another conversation or turn. */
const TRUSTED_FACTOR = 2;

/**
 * Tokens of a request that is about to be sent: what was reported with the newest response, and an estimate of what came
 * after it. A report is of the past: it is never taken for the whole list.
 */
export function measureRequest(
  conversation: Conversation,
  usage: Usage | undefined,
  estimator: TokenEstimator,
): number {
  const { tokens } = measureContext(conversation, estimator);
  if (usage === undefined) return tokens;
  const { messages } = conversation;
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const since = tokensOf(messages.slice(answered + 1), estimator);
  // The two are compared where both speak of the same: up to the newest response.
  const reported = usage.promptTokens + usage.outputTokens;
  const expected = tokens - since;
  const isTrusted = reported >= expected / TRUSTED_FACTOR && reported <= expected * TRUSTED_FACTOR;
  return isTrusted ? Math.round(reported + since) : tokens;
}
