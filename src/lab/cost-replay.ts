/** Replays a recorded session against a prompt cache and says what it would have cost under a policy. */

import {
  type AutoCompactState,
  afterOutcome,
  afterTurn,
  initialAutoCompactState,
} from '../compaction/breaker.ts';
import { adviseCompaction, growthPerTurn } from '../compaction/economics/advice.ts';
import {
  costOf,
  isCacheExpired,
  oneOffCost,
  type PriceSet,
  type RequestSize,
} from '../compaction/economics/costs.ts';
import {
  type CostLedger,
  emptyLedger,
  type LedgerCompaction,
  settleTurn,
} from '../compaction/economics/ledger.ts';
import { createPromptCache, type PromptSegment } from '../compaction/economics/prompt-cache.ts';
import { type Change, changeOf, type Outcome } from '../compaction/plan/strategy.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import type { Message } from '../conversation/message.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { tokensOf as tokensOfMessages } from '../tokens/measure.ts';
import { promptLimitTokens, thresholdsFor } from '../tokens/thresholds.ts';
import {
  type CostSession,
  type CostTurn,
  createPromptMaker,
  type Planner,
  planCompaction,
  rewriteSizes,
  tokensOf,
} from './cost-session.ts';

/** When a session is compacted, by whom, and how far. */
export interface CostPolicy {
  readonly planner: Planner;
  /** `trigger`: whenever the window is full enough. `advice`: whenever it pays, or has to be. */
  readonly when: 'trigger' | 'advice';
  /** Share of the messages' tokens that is to be left. */
  readonly targetShare: number;
  /** Fewer tokens of messages are never left, unless the request does not fit otherwise. Default 0. */
  readonly leastTokens?: number | undefined;
}

export interface ReplayOptions {
  readonly prices: PriceSet;
  /** Prompt and answer together; 0: no limit. */
  readonly windowTokens: number;
  readonly estimator: TokenEstimator;
}

/** What a session would have cost. Plain data. */
export interface CostReplay {
  /** Of all requests and of summary calls, in USD. */
  readonly cost: number;
  /** Of summary calls alone. */
  readonly summaryCost: number;
  /** Tokens of each prompt as it was sent. */
  readonly promptTokens: readonly number[];
  readonly compactions: readonly ReplayedCompaction[];
  /** Requests that do not fit the window: the session would have ended there. */
  readonly overflows: number;
}

/** A compaction before a request. */
export interface ReplayedCompaction {
  /** Number of the request, from 0. */
  readonly turn: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** `trigger`, or why the advice said so. */
  readonly reason: string;
}

/**
 * Sends a recorded session again, request by request, to a prompt cache of its own, with the recorded answers. Without
 * a policy nothing is ever compacted.
 */
export async function replayCosts(
  session: CostSession,
  policy: CostPolicy | undefined,
  options: ReplayOptions,
): Promise<CostReplay> {
  const replay = new Replay(session, policy, options);
  for (const turn of session.turns) await replay.send(turn);
  return replay.result();
}

/** Growth of the prompt after which the advice is asked again, where nothing else has happened. */
const ASK_AGAIN = 1.1;

const EMERGENCY = createStrategy('collapse');

/** A compaction that is applied before a request. */
interface Applied {
  readonly messages: readonly Message[];
  readonly segments: readonly PromptSegment[];
  readonly reason: string;
  readonly settled: LedgerCompaction;
}

class Replay {
  readonly #session: CostSession;
  readonly #policy: CostPolicy | undefined;
  readonly #options: ReplayOptions;
  readonly #cache;
  readonly #maker;
  readonly #limitTokens: number;
  readonly #triggerTokens: number;
  readonly #promptTokens: number[] = [];
  readonly #compactions: ReplayedCompaction[] = [];
  #messages: readonly Message[] = [];
  #segments: readonly PromptSegment[] = [];
  #ledger: CostLedger = emptyLedger;
  #state: AutoCompactState = initialAutoCompactState;
  #lastSeconds: number | undefined;
  #askedTokens = 0;
  #cost = 0;
  #summaryCost = 0;

  constructor(session: CostSession, policy: CostPolicy | undefined, options: ReplayOptions) {
    this.#session = session;
    this.#policy = policy;
    this.#options = options;
    this.#cache = createPromptCache(options.prices);
    this.#maker = createPromptMaker(session, options.estimator);
    this.#limitTokens = promptLimitTokens(options.windowTokens);
    this.#triggerTokens = thresholdsFor(options.windowTokens).triggerTokens;
    const { shared } = this.#maker;
    if (shared.length > 0)
      this.#cache.send({ segments: shared, atSeconds: session.turns[0]?.atSeconds ?? 0 });
  }

  async send(turn: CostTurn): Promise<void> {
    const { prices } = this.#options;
    const { atSeconds, outputTokens } = turn;
    this.#messages = [...this.#messages, ...turn.added];
    this.#segments = this.#maker.segmentsOf(this.#messages);
    const idleSeconds = atSeconds - (this.#lastSeconds ?? atSeconds);
    const applied = await this.#compact(turn, idleSeconds);
    if (applied !== undefined) this.#apply(applied);
    const promptTokens = tokensOf(this.#segments);
    const limitTokens = Number.isFinite(this.#limitTokens) ? this.#limitTokens : 0;
    const sent = { prices, promptTokens, idleSeconds, outputTokens, limitTokens };
    this.#ledger = settleTurn(this.#ledger, { ...sent, compaction: applied?.settled });
    const request = { segments: this.#segments, atSeconds, outputTokens, keptTokens: turn.keptTokens };
    this.#cost += costOf(prices, this.#cache.send(request));
    this.#promptTokens.push(promptTokens);
    this.#lastSeconds = atSeconds;
  }

  result(): CostReplay {
    return {
      cost: this.#cost,
      summaryCost: this.#summaryCost,
      promptTokens: this.#promptTokens,
      compactions: this.#compactions,
      overflows: this.#promptTokens.filter((tokens) => tokens > this.#limitTokens).length,
    };
  }

  #compact(turn: CostTurn, idleSeconds: number): Promise<Applied | undefined> {
    if (this.#policy === undefined || this.#isTooSmall(this.#policy)) return Promise.resolve(undefined);
    return this.#policy.when === 'advice'
      ? this.#compactIfAdvised(this.#policy, turn, idleSeconds)
      : this.#compactIfDue(this.#policy, turn);
  }

  #isTooSmall({ targetShare, leastTokens = 0 }: CostPolicy): boolean {
    const fits = tokensOf(this.#segments) <= this.#limitTokens;
    return fits && this.#sizeOf(this.#messages) * targetShare < leastTokens;
  }

  async #compactIfDue(policy: CostPolicy, turn: CostTurn): Promise<Applied | undefined> {
    const isDue = tokensOf(this.#segments) >= this.#triggerTokens && this.#state.pausedTurns === 0;
    if (!isDue) {
      this.#state = afterTurn(this.#state);
      return undefined;
    }
    const outcome = await this.#plan(policy);
    this.#state = afterOutcome(this.#state, outcome);
    return this.#prepare(outcome, turn, 'trigger');
  }

  async #compactIfAdvised(
    policy: CostPolicy,
    turn: CostTurn,
    idleSeconds: number,
  ): Promise<Applied | undefined> {
    const { prices, windowTokens } = this.#options;
    const tokens = tokensOf(this.#segments);
    const isWorthAsking =
      tokens > this.#limitTokens ||
      tokens >= this.#askedTokens * ASK_AGAIN ||
      isCacheExpired(prices, idleSeconds);
    if (!isWorthAsking) return undefined;
    this.#askedTokens = tokens;
    const outcome = await this.#plan(policy);
    const applied = this.#prepare(outcome, turn, '');
    if (applied === undefined) return undefined;
    const { verdict, reason } = adviseCompaction({
      prices,
      ...rewriteSizes(this.#segments, applied.segments),
      newTokens: this.#sizeOf(turn.added),
      reusableTokens: applied.settled.reusableTokens,
      idleSeconds,
      tokensPerTurn: growthPerTurn([...this.#promptTokens, tokens]),
      summaryCall: this.#summaryCall(outcome, turn),
      turnsSoFar: this.#promptTokens.length,
      windowTokens,
      isTaskBoundary: turn.isTaskBoundary,
      ledger: this.#ledger,
    });
    return verdict === 'compact-now' ? { ...applied, reason } : undefined;
  }

  async #plan({ planner, targetShare }: CostPolicy): Promise<Outcome> {
    // By the estimate that the planner works with, whatever a provider has counted.
    const messageTokens = tokensOfMessages(this.#messages, this.#options.estimator) * targetShare;
    const outcome = await planCompaction(this.#session, this.#messages, messageTokens, planner);
    return (await this.#rescue(planner, outcome)) ?? outcome;
  }

  /** As the engine does it: the emergency, where the request does not fit and nothing else has helped. */
  async #rescue(planner: Planner, outcome: Outcome): Promise<Outcome | undefined> {
    const left = changeOf(outcome)?.conversation.messages ?? this.#messages;
    const roomTokens = this.#limitTokens - this.#session.headTokens;
    if (this.#sizeOf(left) <= roomTokens) return undefined;
    const emergency = { ...planner, strategy: EMERGENCY };
    const rescued = await planCompaction(this.#session, this.#messages, roomTokens, emergency);
    const change = changeOf(rescued);
    const isBetter = change !== undefined && this.#sizeOf(change.conversation.messages) < this.#sizeOf(left);
    return isBetter ? rescued : undefined;
  }

  #prepare(outcome: Outcome, turn: CostTurn, reason: string): Applied | undefined {
    const change: Change | undefined = changeOf(outcome);
    if (change === undefined) return undefined;
    const { messages } = change.conversation;
    const segments = this.#maker.segmentsOf(messages);
    const call = this.#summaryCall(outcome, turn);
    const settled = {
      removedTokens: tokensOf(this.#segments) - tokensOf(segments),
      reusableTokens: this.#cache.cachedTokens({ segments, atSeconds: turn.atSeconds }),
      summaryCost: call === undefined ? 0 : oneOffCost(this.#options.prices, call),
    };
    return { messages, segments, reason, settled };
  }

  /** A model that writes a summary is sent the prompt as it is, and reads of it what is cached. */
  #summaryCall({ usage }: Outcome, { atSeconds }: CostTurn): RequestSize | undefined {
    if (usage === undefined) return undefined;
    const cachedTokens = this.#cache.cachedTokens({ segments: this.#segments, atSeconds });
    const { promptTokens, outputTokens } = usage;
    return { promptTokens, outputTokens, cachedTokens: Math.min(cachedTokens, promptTokens) };
  }

  #apply({ messages, segments, reason, settled }: Applied): void {
    const [tokensBefore, tokensAfter] = [tokensOf(this.#segments), tokensOf(segments)];
    this.#compactions.push({ turn: this.#promptTokens.length, tokensBefore, tokensAfter, reason });
    this.#messages = messages;
    this.#segments = segments;
    this.#askedTokens = tokensAfter;
    this.#summaryCost += settled.summaryCost ?? 0;
    this.#cost += settled.summaryCost ?? 0;
  }

  #sizeOf(messages: readonly Message[]): number {
    return tokensOf(this.#maker.segmentsOf(messages)) - this.#session.headTokens;
  }
}
