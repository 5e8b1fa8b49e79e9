/** Keeps the accounts of one conversation and looks for moments at which a compaction pays. */

import type { Conversation } from '../../conversation/format.ts';
import { type Block, type Message, textOf } from '../../conversation/message.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import type { Thresholds } from '../../tokens/thresholds.ts';
import { changeOf, type Outcome } from '../plan/strategy.ts';
import { adviceFor, type CompactionAdvice, isTaskBoundary, mostTokens, rewriteSizes } from './advice.ts';
import { certainlyReusable, isCacheExpired, oneOffCost, type PriceSet, type RequestSize } from './costs.ts';
import { type CostLedger, emptyLedger, type LedgerCompaction, savedSoFar, settleTurn } from './ledger.ts';

/** A request that is about to be sent. */
export interface Turn {
  readonly conversation: Conversation;
  /** Its tokens, as the provider counts them. */
  readonly tokens: number;
  /** Seconds since the request before it; undefined when it is not known. */
  readonly idleSeconds: number | undefined;
}

export interface EconomyOptions {
  readonly prices: PriceSet;
  readonly thresholds: Thresholds;
  readonly estimator: TokenEstimator;
  /** From a store. Default: nothing was paid yet. */
  readonly ledger?: CostLedger | undefined;
}

/** Share of a price step that a compaction aims at. */
const STEP_TARGET_FRACTION = 0.6;

/** Only a request of at least this many times its target is worth a look. */
const CLEARLY_ABOVE = 1.25;

/** Growth of the request after which the same chance is worth another look. */
const ASK_AGAIN = 1.1;

/** Why a compaction below the trigger may be free, or pay. */
type Chance = 'cache-expired' | 'price-step' | 'savings-at-boundary' | 'savings';

/** Keeps the accounts of one conversation and says what a compaction of it would cost. */
export class Economy {
  readonly #options: EconomyOptions;
  /** Tokens at which a chance came to nothing. */
  readonly #refused = new Map<Chance, number>();
  #ledger: CostLedger;
  #turns = 0;
  #sent: Mark | undefined;
  #unsent: UnsentCompaction | undefined;

  constructor(options: EconomyOptions) {
    this.#options = options;
    this.#ledger = options.ledger ?? emptyLedger;
  }

  get ledger(): CostLedger {
    return this.#ledger;
  }

  /**
   * How small a compaction below the trigger should get; undefined when there is no chance that it is free or pays, or
   * when that chance was refused and the request has not grown much since.
   */
  targetOf(turn: Turn): number | undefined {
    const { tokens, idleSeconds } = turn;
    if (idleSeconds === undefined) return undefined;
    const { targetTokens } = this.#options.thresholds;
    // A step for long prompts wants to be far below the prompt for a while too.
    const target =
      tokens > this.#stepTokens()
        ? Math.min(targetTokens, Math.floor(this.#stepTokens() * STEP_TARGET_FRACTION))
        : targetTokens;
    if (tokens < target * CLEARLY_ABOVE) return undefined;
    const chance = this.#chanceOf(turn);
    if (chance === undefined || tokens < (this.#refused.get(chance) ?? 0) * ASK_AGAIN) return undefined;
    return target;
  }

  /** What to do with a planned compaction; undefined when it is not known how long the conversation was idle. */
  advise(turn: Turn, after: Conversation, summaryCall?: RequestSize): CompactionAdvice | undefined {
    const { conversation, tokens: promptTokens, idleSeconds } = turn;
    if (idleSeconds === undefined) return undefined;
    const { prices, thresholds, estimator } = this.#options;
    const known = { prices, thresholds, estimator, ledger: this.#ledger, turnsSoFar: this.#turns };
    return adviceFor(conversation, after, { ...known, promptTokens, idleSeconds, summaryCall });
  }

  /** Remembers that the chance of a turn came to nothing. */
  refuse(turn: Turn): void {
    const chance = this.#chanceOf(turn);
    if (chance !== undefined) this.#refused.set(chance, turn.tokens);
  }

  /** Enters a request that is sent, and what was done to it before. The same request again is not entered twice. */
  settle(turn: Turn, outcome: Outcome): void {
    const { prices, thresholds } = this.#options;
    const { conversation } = changeOf(outcome) ?? turn;
    const before = this.#takeUnsent(turn.conversation);
    const now = compactionOf(turn, outcome, this.#options);
    const compaction = join(before?.compaction, now);
    const mark = endOf(conversation);
    const isSentAgain = this.#sent?.length === mark.length && goesOnFrom(this.#sent, conversation);
    if (isSentAgain && (compaction?.removedTokens ?? 0) === 0) {
      const actualCost = this.#ledger.actualCost + (compaction?.summaryCost ?? 0);
      this.#ledger = { ...this.#ledger, actualCost };
      return;
    }
    const goesOn = before?.isUsed === true || this.#goesOn(turn.conversation);
    // Where it does not go on from the last request there is nothing to compare with; what was saved stays saved.
    const opened = goesOn ? this.#ledger : { ...this.#ledger, actualTokens: 0, noneTokens: 0 };
    this.#ledger = settleTurn(opened, {
      prices,
      promptTokens: turn.tokens - (now?.removedTokens ?? 0),
      // A cache that may have expired is taken to be warm: then a smaller request saves least.
      idleSeconds: turn.idleSeconds ?? 0,
      limitTokens: mostTokens(thresholds),
      compaction,
    });
    if (changeOf(outcome) !== undefined) this.#refused.clear();
    this.#turns++;
    this.#sent = mark;
  }

  /**
   * Enters a run after which no request is sent yet, by hand or aborted: a compaction counts once a request goes on from
   * it. What was spent is paid either way.
   */
  settleUnsent(turn: Turn, outcome: Outcome): void {
    const compaction = compactionOf(turn, outcome, this.#options);
    if (compaction === undefined) return;
    const before = this.#takeUnsent(turn.conversation)?.compaction;
    const { conversation } = changeOf(outcome) ?? turn;
    const mark = endOf(conversation);
    this.#unsent = { mark, compaction: join(before, compaction) ?? compaction };
  }

  #takeUnsent(
    conversation: Conversation,
  ): { readonly compaction: LedgerCompaction; readonly isUsed: boolean } | undefined {
    const unsent = this.#unsent;
    this.#unsent = undefined;
    if (unsent === undefined) return undefined;
    const isUsed = goesOnFrom(unsent.mark, conversation);
    return { compaction: isUsed ? unsent.compaction : onlyPaid(unsent.compaction.summaryCost), isUsed };
  }

  #goesOn(conversation: Conversation): boolean {
    return this.#sent === undefined || goesOnFrom(this.#sent, conversation);
  }

  #chanceOf({ conversation, tokens, idleSeconds = 0 }: Turn): Chance | undefined {
    if (isCacheExpired(this.#options.prices, idleSeconds)) return 'cache-expired';
    if (tokens > this.#stepTokens()) return 'price-step';
    if (savedSoFar(this.#ledger) <= 0) return undefined;
    return isTaskBoundary(conversation) ? 'savings-at-boundary' : 'savings';
  }

  #stepTokens(): number {
    return this.#options.prices.prices.longContext?.abovePromptTokens ?? Number.POSITIVE_INFINITY;
  }
}

interface UnsentCompaction {
  readonly mark: Mark;
  readonly compaction: LedgerCompaction;
}

/** What came of a run, for the ledger; undefined when nothing was changed and nothing was paid. */
function compactionOf(
  { conversation, tokens }: Turn,
  outcome: Outcome,
  { estimator, prices }: EconomyOptions,
): LedgerCompaction | undefined {
  const { usage } = outcome;
  const summaryCost = usage === undefined ? undefined : oneOffCost(prices, { ...usage, cachedTokens: 0 });
  const change = changeOf(outcome);
  if (change === undefined) return summaryCost === undefined ? undefined : onlyPaid(summaryCost);
  const sizes = rewriteSizes(conversation, change.conversation, { estimator, promptTokens: tokens });
  return {
    removedTokens: sizes.tokensBehind - sizes.tokensBehindAfter,
    reusableTokens: certainlyReusable({ prices, tokensBefore: sizes.tokensBefore }),
    summaryCost,
  };
}

/** A run that was paid and changed nothing: all of the request can still be read. */
function onlyPaid(summaryCost: number | undefined): LedgerCompaction {
  return { removedTokens: 0, reusableTokens: Number.POSITIVE_INFINITY, summaryCost };
}

function join(
  one: LedgerCompaction | undefined,
  other: LedgerCompaction | undefined,
): LedgerCompaction | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    removedTokens: one.removedTokens + other.removedTokens,
    reusableTokens: Math.min(one.reusableTokens, other.reusableTokens),
    summaryCost: (one.summaryCost ?? 0) + (other.summaryCost ?? 0),
  };
}

/** The end of a list of messages, to know it again by. */
interface Mark {
  readonly length: number;
  readonly last: Message | undefined;
}

function endOf({ messages }: Conversation): Mark {
  return { length: messages.length, last: messages.at(-1) };
}

function goesOnFrom({ length, last }: Mark, { messages }: Conversation): boolean {
  return messages.length >= length && isSameMessage(last, messages[length - 1]);
}

/** Whether two messages say the same. Copies do, and so does one whose cache marker has moved on. */
function isSameMessage(one: Message | undefined, other: Message | undefined): boolean {
  if (one?.raw === other?.raw) return true;
  if (one?.role !== other?.role || one?.blocks.length !== other?.blocks.length) return false;
  return one?.blocks.every((block, index) => isSameBlock(block, other?.blocks[index])) === true;
}

function isSameBlock(one: Block, other: Block | undefined): boolean {
  return one.type === other?.type && idOf(one) === idOf(other) && textOf(one) === textOf(other);
}

function idOf(block: Block): string | undefined {
  if (block.type === 'tool-call') return block.id;
  return block.type === 'tool-result' ? block.callId : undefined;
}
