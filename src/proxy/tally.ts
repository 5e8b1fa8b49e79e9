import { costOf, priceSetOf } from '../compaction/economics/costs.ts';
import { findModel } from '../tokens/catalog.ts';
import type { ExchangeRecord, ProxyObserver, ReportedUsage } from './record.ts';

/** What came of all requests of a proxy. */
export interface Tally {
  /** Requests for a model's answer. */
  readonly requests: number;
  /** Requests that went out with a view of the conversation, and those that had to lose more for once. */
  readonly folded: number;
  readonly reduced: number;
  /** How often a conversation was compacted. */
  readonly folds: number;
  readonly recoveries: number;
  /** Answers with a status of 400 or above, or none at all. */
  readonly refused: number;
  /** Estimates of what the client sent and of what went on. */
  readonly tokensReceived: number;
  readonly tokensSent: number;
  /** As the providers reported it. */
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** USD at list prices, of requests whose model has one; undefined when no model has. */
  readonly cost: number | undefined;
  /** Models without a price. */
  readonly unpriced: readonly string[];
  /** Requests that were passed, by reason. */
  readonly passed: ReadonlyMap<string, number>;
  /** Windows that turned out to be others than those known. */
  readonly learntWindows: ReadonlyMap<string, number>;
}

/** An observer that adds up what it is told. */
export function createTally(): { readonly observer: ProxyObserver; read(): Tally } {
  const passed = new Map<string, number>();
  const learntWindows = new Map<string, number>();
  const unpriced = new Set<string>();
  const sums = { requests: 0, folded: 0, reduced: 0, folds: 0, recoveries: 0, refused: 0 };
  const tokens = { tokensReceived: 0, tokensSent: 0, promptTokens: 0, outputTokens: 0, cacheReadTokens: 0 };
  let cost: number | undefined;

  const exchange = (record: ExchangeRecord): void => {
    if (record.kind !== 'generate') return;
    sums.requests++;
    sums.recoveries += record.recoveries;
    if (record.status === 'folded') sums.folded++;
    if (record.status === 'reduced') sums.reduced++;
    if (record.httpStatus === undefined || record.httpStatus >= 400) sums.refused++;
    if (record.status === 'passed') {
      const reason = record.reason ?? 'failed';
      passed.set(reason, (passed.get(reason) ?? 0) + 1);
    }
    tokens.tokensReceived += record.tokensReceived ?? 0;
    tokens.tokensSent += record.tokensSent ?? record.tokensReceived ?? 0;
    if (record.usage !== undefined) addUsage(record.usage, record);
  };
  const addUsage = (usage: ReportedUsage, { model = '', startedAt }: ExchangeRecord): void => {
    tokens.promptTokens += usage.promptTokens;
    tokens.outputTokens += usage.outputTokens;
    tokens.cacheReadTokens += usage.cacheReadTokens ?? 0;
    const spent = costFor(model, usage, startedAt);
    if (spent === undefined) unpriced.add(model);
    else cost = (cost ?? 0) + spent;
  };

  return {
    observer: {
      exchange,
      keeperEvent({ type }) {
        if (type === 'checkpoint-saved') sums.folds++;
      },
      windowLearnt: (model, windowTokens) => void learntWindows.set(model, windowTokens),
    },
    read: () => ({ ...sums, ...tokens, cost, passed, learntWindows, unpriced: [...unpriced] }),
  };
}

/** USD at the prices of the day; undefined when the model has none. */
function costFor(model: string, usage: ReportedUsage, at: number): number | undefined {
  const set = priceSetOf(findModel(model) ?? {}, new Date(at).toISOString());
  if (set === undefined) return undefined;
  const { promptTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return costOf(set, {
    readTokens: cacheReadTokens,
    writtenTokens: cacheWriteTokens,
    uncachedTokens: Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens),
    outputTokens,
  });
}
