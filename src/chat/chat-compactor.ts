/** The compactor of a chat: automatic runs and those by hand, with one ledger and one log. */

import type { AutoCompactState } from '../compaction/breaker.ts';
import { type CallOptions, type Compactor, createCompactor } from '../compaction/compactor.ts';
import type { LogRecord } from '../compaction/decorators/with-logging.ts';
import { oneOffCost, priceSetOf } from '../compaction/economics/costs.ts';
import { type CostLedger, emptyLedger, savedSoFar } from '../compaction/economics/ledger.ts';
import type { CompactionEvent, CompactorOptions } from '../compaction/options.ts';
import { notCompacted, type Outcome, type Strategy } from '../compaction/plan/strategy.ts';
import type { Usage } from '../conversation/message.ts';
import { fileLog, withLogging } from '../integrations/node.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { findModel } from '../tokens/catalog.ts';
import type { Thresholds } from '../tokens/thresholds.ts';

/** Why nothing was done although a strategy may have been asked for a plan. */
const NO_RUN = /^(?:below-trigger|paused|nested|economics-.*)$/;

/**
 * Appends a record of every run to a file. A plan that was made only to learn what it would cost is no run: its record is
 * held until it is known what came of it.
 */
export class RunLog {
  readonly #write: (record: LogRecord) => void;
  readonly #onFailure: (error: unknown) => void;
  #newest: LogRecord | undefined;

  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#write = fileLog(path);
    this.#onFailure = onFailure;
  }

  /** The strategy, whose runs are noted now. */
  noting(strategy: Strategy): Strategy {
    return withLogging(strategy, (record) => {
      this.#newest = record;
    });
  }

  /** Writes the newest record down if it was a run. */
  settle(outcome: Outcome): void {
    const record = this.#newest;
    this.#newest = undefined;
    if (record === undefined || (outcome.status !== 'compacted' && NO_RUN.test(outcome.reason))) return;
    try {
      this.#write(record);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}

/** A compaction that the user asks for. */
export interface RunByHand {
  readonly strategy: Strategy;
}

/** What is kept of a chat's runs when it is saved. Plain data. */
export interface RunAccounts {
  readonly state: AutoCompactState;
  readonly ledger: CostLedger;
  /** Of summaries that are in no ledger, in USD. */
  readonly aside: number;
}

export interface ChatCompactorOptions {
  readonly model: string | undefined;
  readonly windowTokens: number | undefined;
  readonly format: string;
  /** The strategy that runs by itself. */
  readonly configured: Strategy;
  readonly summarizer: Summarizer;
  readonly log: RunLog | undefined;
  /** Puts around each strategy what the chat needs. */
  dress(strategy: Strategy): Strategy;
  /** Texts that no run touches; a new list when there is a new one. */
  patterns(): readonly RegExp[];
  readonly accounts: RunAccounts | undefined;
  readonly onEvent?: ((event: CompactionEvent) => void) | undefined;
}

/**
 * The one compactor of a chat. Runs by hand go through it with another strategy, so that automatic ones, the pause after
 * failures and the ledger know of them. One run at a time: a summarizer or a store that asks for another gets none.
 */
export class ChatCompactor {
  readonly #options: ChatCompactorOptions;
  readonly #inner: Compactor;
  #byHand: RunByHand | undefined;
  #isRunning = false;
  /** Of summaries that enter the ledger with the next request, and of those that never will, in USD. */
  #unsettled = 0;
  #aside: number;

  constructor(options: ChatCompactorOptions) {
    this.#options = options;
    this.#aside = options.accounts?.aside ?? 0;
    this.#inner = createCompactor(this.#compactorOptions(this.#current(), options.accounts));
  }

  get thresholds(): Thresholds {
    return this.#inner.thresholds;
  }

  /** To go on from: with another model, or another day. */
  get accounts(): RunAccounts {
    const { state, ledger } = this.#inner;
    return { state, ledger, aside: this.#aside + this.#unsettled };
  }

  /** What was paid, and what compactions have saved, in USD; undefined when nobody knows the prices. */
  get money(): { readonly paid: number; readonly saved: number } | undefined {
    if (this.#priceOf({ promptTokens: 0, outputTokens: 0 }) === undefined) return undefined;
    const beside = this.#aside + this.#unsettled;
    const { ledger } = this.#inner;
    return { paid: ledger.actualCost + beside, saved: savedSoFar(ledger) - beside };
  }

  /** To be called before each request. */
  async runIfDue(body: unknown, call: CallOptions): Promise<Outcome> {
    const outcome = await this.#alone(async () => (await this.#inner.maybeCompact(body, call)).outcome);
    if (call.signal?.aborted !== true && !isNested(outcome)) this.#unsettled = 0;
    return outcome;
  }

  async run(body: unknown, byHand: RunByHand, call: CallOptions): Promise<Outcome> {
    const outcome = await this.#alone(async () => {
      this.#byHand = byHand;
      try {
        return (await this.#inner.compact(body, call)).outcome;
      } finally {
        this.#byHand = undefined;
      }
    });
    this.#unsettled += this.#priceOf(outcome.usage) ?? 0;
    return outcome;
  }

  /** What a run would do. Its summary is paid all the same; nothing else is remembered of it. */
  async tryOut(body: unknown, { strategy }: RunByHand, call: CallOptions): Promise<Outcome> {
    const options = this.#compactorOptions(this.#options.dress(strategy), undefined);
    const { outcome } = await createCompactor(options).compact(body, call);
    this.#aside += this.#priceOf(outcome.usage) ?? 0;
    return outcome;
  }

  async #alone(run: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#isRunning)
      return notCompacted('skipped', NESTED, 'this conversation is being compacted already');
    this.#isRunning = true;
    try {
      const outcome = await run();
      this.#options.log?.settle(outcome);
      return outcome;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Whatever strategy is to run now. */
  #current(): Strategy {
    const { configured, log, dress } = this.#options;
    return {
      name: configured.name,
      isDue: (conversation, context) => configured.isDue?.(conversation, context) === true,
      compact: (conversation, context) => {
        const { strategy } = this.#byHand ?? { strategy: configured };
        const dressed = dress(strategy);
        return (log?.noting(dressed) ?? dressed).compact(conversation, context);
      },
    };
  }

  #compactorOptions(strategy: Strategy, accounts: RunAccounts | undefined): CompactorOptions {
    const { model, windowTokens, format, summarizer, patterns, onEvent } = this.#options;
    const pins = {
      get patterns() {
        return patterns();
      },
    };
    const { state, ledger = emptyLedger } = accounts ?? {};
    return { model, windowTokens, format, strategy, summarizer, pins, state, ledger, onEvent };
  }

  /** At the prices of the chat's own model, as the ledger has it. */
  #priceOf(usage: Usage | undefined): number | undefined {
    const { model } = this.#options;
    const prices = model === undefined ? undefined : priceSetOf(findModel(model) ?? {});
    if (prices === undefined) return undefined;
    return usage === undefined ? 0 : oneOffCost(prices, { ...usage, cachedTokens: 0 });
  }
}

const NESTED = 'nested';

function isNested(outcome: Outcome): boolean {
  return outcome.status !== 'compacted' && outcome.reason === NESTED;
}
