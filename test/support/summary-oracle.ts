import { decorate } from '../../src/compaction/decorators/decorate.ts';
import type { Strategy } from '../../src/compaction/plan/strategy.ts';
import { createStrategy } from '../../src/compaction/strategies/registry.ts';
import type { Summarizer, SummaryOutcome, SummaryRequest } from '../../src/memory/summary-request.ts';

/** What the next summary comes to, and how many turns late. */
export interface SummaryPlan {
  readonly kind: 'fine' | 'failed' | 'empty' | 'throws';
  readonly turnsLate: number;
}

/** Strategies that make records of different kinds, with limits that a small window needs. */
export const worldStrategies = {
  summarize: { keepRecentTokens: 300, keepRounds: 1, minGain: 0.1 },
  ladder: { keepRecentTokens: 300 },
  'clear-tool-results': { protectTokens: 300, minBatchTokens: 200 },
  'sliding-window': { keepLast: 8 },
} as const;

export type WorldStrategy = keyof typeof worldStrategies;

/** What a summary was made of, and for whom. */
export interface SummaryNote {
  readonly tenant: string;
  readonly nonces: ReadonlySet<number>;
  /** Ids of the tool calls in it, which stay where the text of a result was cleared. */
  readonly calls: ReadonlySet<string>;
}

export interface SummarizerTerms {
  plan(): SummaryPlan;
  /** Ends after so many turns, or when the signal is aborted. */
  later(turns: number, signal: AbortSignal | undefined): Promise<void>;
}

/** What a summary is made of. */
type Shown = Pick<SummaryRequest, 'messages' | 'previousSummary'>;

const ORACLE = 'oracle';

/** Knows what every summary was made of: each has a name in its text. */
export class SummaryOracle {
  readonly #strategy: WorldStrategy;
  readonly #summaries = new Map<string, SummaryNote>();

  constructor(strategy: WorldStrategy) {
    this.#strategy = strategy;
  }

  find(id: string): SummaryNote | undefined {
    return this.#summaries.get(id);
  }

  /** Tells what it was shown, by a name that the oracle knows. */
  summarizerFor(tenantOf: () => string, { plan, later }: SummarizerTerms): Summarizer {
    return {
      name: ORACLE,
      asksModel: true,
      summarize: async ({ messages, previousSummary, signal }) => {
        const { kind, turnsLate } = plan();
        if (turnsLate > 0) await later(turnsLate, signal);
        return this.#answer(kind, tenantOf(), { messages, previousSummary });
      },
    };
  }

  /** The strategy, with names also in the summaries that are written without the oracle where that fails. */
  strategyFor(tenantOf: () => string): Strategy {
    const inner = createStrategy(this.#strategy, worldStrategies[this.#strategy]);
    const named = (summarizer: Summarizer): Summarizer => ({
      ...summarizer,
      summarize: async (request) => {
        const outcome = await summarizer.summarize(request);
        if (outcome.status === 'failed' || summarizer.name === ORACLE) return outcome;
        return { ...outcome, text: `${outcome.text}\n${this.#note(tenantOf(), request)}` };
      },
    });
    return decorate(inner, (conversation, context) =>
      inner.compact(conversation, {
        ...context,
        summarizer: named(context.summarizer),
        ownSummarizer: named(context.ownSummarizer),
      }),
    );
  }

  #answer(kind: SummaryPlan['kind'], tenant: string, shown: Shown): SummaryOutcome {
    if (kind === 'throws') throw new Error('no connection');
    if (kind === 'empty') return { status: 'summarized', text: ' ', usage: undefined };
    if (kind === 'failed')
      return { status: 'failed', reason: 'upstream', message: 'overloaded', usage: undefined };
    return {
      status: 'summarized',
      text: `What was said is in ${this.#note(tenant, shown)}`,
      usage: undefined,
    };
  }

  /** The name of a summary that was made of these messages. */
  #note(tenant: string, { messages, previousSummary = '' }: Shown): string {
    const nonces = new Set(messages.flatMap(({ raw }) => noncesIn(raw)));
    const calls = new Set(messages.flatMap(({ raw }) => callIdsIn(raw)));
    for (const before of summaryIdsIn(previousSummary)) {
      for (const nonce of this.#summaries.get(before)?.nonces ?? []) nonces.add(nonce);
      for (const call of this.#summaries.get(before)?.calls ?? []) calls.add(call);
    }
    const id = `summary-${this.#summaries.size}-`;
    this.#summaries.set(id, { tenant, nonces, calls });
    return id;
  }
}

/** The nonces of all messages in a value. */
export function noncesIn(raw: unknown): readonly number[] {
  return [...JSON.stringify(raw).matchAll(/#(\d+)#/g)].map(([, nonce]) => Number(nonce));
}

/** The ids of tool calls in a value. */
export function callIdsIn(raw: unknown): readonly string[] {
  return [...JSON.stringify(raw).matchAll(/"(call_\d+)"/g)].map(([, id = '']) => id);
}

/** The names of summaries in a text. */
export function summaryIdsIn(text: string): readonly string[] {
  return [...text.matchAll(/summary-\d+-/g)].map(([id]) => id);
}
