import type { HandleFor, Receipt } from '../compaction/plan/receipt.ts';
import type { Outcome } from '../compaction/plan/strategy.ts';
import type { Chains, Hash } from '../conversation/chain.ts';
import type { Conversation, Format } from '../conversation/format.ts';
import type { Usage } from '../conversation/message.ts';
import type { Store } from '../stores/store.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import type { Thresholds } from '../tokens/thresholds.ts';
import type { Schedule } from './held-lease.ts';
import type { KeeperEvent } from './keeper-event.ts';

/** A view to be compacted. */
export interface CompactionOrder {
  readonly conversation: Conversation;
  readonly tokens: number;
  readonly signal: AbortSignal;
  readonly handleFor: HandleFor | undefined;
  /** Whether the configured summarizer is given a rest. */
  readonly isSummarizerPaused: boolean;
}

/** What came of a compaction. */
export interface CompactionReport {
  readonly outcome: Outcome;
  /** Why the configured summarizer wrote nothing, where it was asked and did not. */
  readonly summarizerFailure: string | undefined;
}

/** Everything it takes to serve requests for one model, and what a runner does not know how to do. */
export interface RunnerPorts {
  readonly store: Store;
  readonly hash: Hash;
  readonly chains: Chains;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly schedule: Schedule;
  /** Gives whoever waits a turn: a long run is made of stretches with this between them. */
  letOthersRun(): Promise<void>;
  /** Who asks for leases: another word in each process. */
  readonly owner: string;
  readonly estimator: TokenEstimator;
  readonly thresholds: Thresholds;
  /** Whether the model refuses its own reasoning behind a prefix that was changed. */
  readonly bindsReasoning: boolean;
  /** Whether what leaves is kept. */
  readonly archive: boolean;
  readonly leaseMilliseconds: number;
  /** How long a request that does not fit waits for a compaction. */
  readonly patienceMilliseconds: number;
  /** Fingerprint of what shapes a checkpoint. */
  configurationFor(format: Format): string;
  /** Tokens of a request, by what the provider reported with the last answer where that is known. */
  measure(view: Conversation, usage: Usage | undefined): number;
  /** One automatic compaction: what the chosen strategy has to say. */
  compact(order: CompactionOrder): Promise<CompactionReport>;
  /** A request of so many tokens cut down to fit, for once; one receipt for each step. */
  reduce(view: Conversation, tokens: number): Promise<Reduced>;
  emit(event: KeeperEvent): void;
}

/** A request for once. */
export interface Reduced {
  readonly conversation: Conversation;
  readonly tokens: number;
  readonly receipts: readonly Receipt[];
}
