import { RoundfoldError } from '../../conversation/errors.ts';
import type { StoreOperation } from '../../keeper/options.ts';
import type { ExchangeRecord, FoldEvent, RefusalRecord } from '../record.ts';
import { knownOr, passWords, refusalWords, statusWords } from './words.ts';

/** How compactions in the background have ended. */
export type CompactionOutcome = 'saved' | 'refused' | 'failed';

/** Something that went wrong, without what it was about. */
export interface Trouble {
  readonly count: number;
  /** Milliseconds since 1970; undefined when it never happened. */
  readonly lastAt: number | undefined;
  /** What failed: an operation of the store, the code of an error. */
  readonly last: string | undefined;
}

/** How the proxy is doing. */
export interface Health {
  readonly startedAt: number;
  readonly requests: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Requests that were left as they came, by reason. */
  readonly passed: readonly { readonly reason: string; readonly words: string; readonly count: number }[];
  /** Requests that the proxy refused itself, or that upstream did not answer, by reason. */
  readonly refused: readonly { readonly reason: string; readonly words: string; readonly count: number }[];
  readonly upstreamErrors: number;
  /** Why the last request that got no answer got none, and from where; undefined when all were answered. */
  readonly upstreamFault: string | undefined;
  readonly recoveries: number;
  readonly windows: readonly { readonly model: string; readonly windowTokens: number }[];
  readonly compactions: Readonly<Record<CompactionOutcome, number>>;
  /** Conversations whose compactions pause because several in a row came to nothing. */
  readonly paused: number;
  readonly pauseReason: string | undefined;
  readonly store: Trouble;
  /** How often the store failed, by what was asked of it. */
  readonly storeErrors: Readonly<Record<StoreOperation, number>>;
  readonly activeStreams: number;
}

/** Models whose learnt windows are kept, and conversations that are known to pause. */
const MOST_WINDOWS = 50;
const MOST_PAUSES = 1000;

/** Keeps what a proxy is told about its own state. */
export class HealthBook {
  readonly #startedAt: number;
  readonly #byStatus = new Map<string, number>();
  readonly #passed = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #windows = new Map<string, number>();
  readonly #pauses = new Map<string, number>();
  readonly #compactions: Record<CompactionOutcome, number> = { saved: 0, refused: 0, failed: 0 };
  #requests = 0;
  #upstreamErrors = 0;
  #upstreamFault: string | undefined;
  #recoveries = 0;
  #pauseReason: string | undefined;
  #store: Trouble = { count: 0, lastAt: undefined, last: undefined };
  readonly #storeErrors = { find: 0, acquire: 0, renew: 0, commit: 0, release: 0 };
  #activeStreams = 0;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  exchange(record: ExchangeRecord): void {
    this.#requests++;
    this.#recoveries += record.recoveries;
    if (record.httpStatus === undefined || record.httpStatus >= 400) this.#upstreamErrors++;
    if (record.fault !== undefined) {
      this.#upstreamFault = `${record.upstream ?? 'upstream'}: ${record.fault}`;
      add(this.#refused, 'no-answer');
    }
    add(this.#byStatus, knownOr(statusWords, record.status));
    if (record.status === 'passed') add(this.#passed, knownOr(passWords, record.reason));
    this.#turnPassed(record.conversation);
  }

  refused({ reason }: RefusalRecord): void {
    add(this.#refused, knownOr(refusalWords, reason));
  }

  keeperEvent(event: FoldEvent, now: number): void {
    switch (event.type) {
      case 'checkpoint-saved':
        this.#compactions.saved++;
        this.#pauses.delete(event.conversation);
        break;
      case 'checkpoint-refused':
        this.#compactions.refused++;
        break;
      case 'compaction-failed':
        this.#compactions.failed++;
        break;
      case 'compaction-paused':
        this.#pauseReason = event.reason.slice(0, 60);
        if (this.#pauses.size < MOST_PAUSES) this.#pauses.set(event.conversation ?? '', event.turns);
        break;
      case 'store-failed':
        this.#storeErrors[event.operation]++;
        this.#store = {
          count: this.#store.count + 1,
          lastAt: now,
          last: `${event.operation}: ${classOf(event.error)}`,
        };
        break;
      default:
        break;
    }
  }

  windowLearnt(model: string, windowTokens: number): void {
    this.#windows.delete(model);
    this.#windows.set(model, windowTokens);
    const oldest = this.#windows.keys().next().value;
    if (this.#windows.size > MOST_WINDOWS && oldest !== undefined) this.#windows.delete(oldest);
  }

  streamOpened(): void {
    this.#activeStreams++;
  }

  streamClosed(): void {
    this.#activeStreams = Math.max(0, this.#activeStreams - 1);
  }

  read(): Health {
    return {
      startedAt: this.#startedAt,
      requests: this.#requests,
      byStatus: Object.fromEntries(this.#byStatus),
      passed: inWords(this.#passed, passWords),
      refused: inWords(this.#refused, refusalWords),
      upstreamErrors: this.#upstreamErrors,
      upstreamFault: this.#upstreamFault,
      recoveries: this.#recoveries,
      windows: [...this.#windows].map(([model, windowTokens]) => ({ model, windowTokens })),
      compactions: { ...this.#compactions },
      paused: this.#pauses.size,
      pauseReason: this.#pauses.size === 0 ? undefined : this.#pauseReason,
      store: this.#store,
      storeErrors: { ...this.#storeErrors },
      activeStreams: this.#activeStreams,
    };
  }

  /** A pause is counted in turns of its own conversation. */
  #turnPassed(conversation: string | undefined): void {
    const left = this.#pauses.get(conversation ?? '');
    if (left === undefined) return;
    if (left > 1) this.#pauses.set(conversation ?? '', left - 1);
    else this.#pauses.delete(conversation ?? '');
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Counts by reason, the most frequent first. */
function inWords(counts: ReadonlyMap<string, number>, words: Readonly<Record<string, string>>) {
  return [...counts]
    .map(([reason, count]) => ({ reason, words: words[reason] ?? 'another reason', count })) // `other` is none of ours
    .toSorted((left, right) => right.count - left.count);
}

/** What kind of error it is. Its message may quote anything. */
export function classOf(error: unknown): string {
  if (RoundfoldError.is(error)) return error.code;
  return error instanceof Error ? error.name.slice(0, 40) : typeof error;
}
