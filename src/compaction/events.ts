import type { SummaryFailure } from '../memory/summary-request.ts';
import type { TokenWarningState } from '../tokens/thresholds.ts';
import type { CompactTrigger, Outcome } from './plan/strategy.ts';

/** What a compactor tells those who listen. Only the outcome of a compaction holds messages; the rest is safe to log. */
export type CompactionEvent =
  | { readonly type: 'compaction-start'; readonly trigger: CompactTrigger; readonly tokens: number }
  | { readonly type: 'compaction-end'; readonly trigger: CompactTrigger; readonly outcome: Outcome }
  | CompactionAdviceEvent
  | {
      readonly type: 'token-warning';
      readonly level: TokenWarningState;
      readonly tokens: number;
      readonly windowTokens: number;
    }
  | { readonly type: 'compaction-paused'; readonly reason: string; readonly turns: number }
  | SummarizerFailedEvent
  | { readonly type: 'summarizer-paused'; readonly reason: string; readonly turns: number };

/** The configured summarizer wrote nothing, and our own did in the same run. */
export interface SummarizerFailedEvent {
  readonly type: 'summarizer-failed';
  readonly summarizer: string;
  readonly reason: SummaryFailure;
  /** For people. */
  readonly message: string;
}

/** Whether a planned compaction pays. Costs are in USD. */
export interface CompactionAdviceEvent {
  readonly type: 'compaction-advice';
  readonly verdict: 'compact-now' | 'wait' | 'never';
  /** Stable, for programs: `cache-expired`, `window-full`, `not-covered`, … */
  readonly reason: string;
  /** The request as it is and as it would be. */
  readonly tokens: number;
  readonly tokensAfter: number;
  /** Of the next request as it is and as it would be, summary included. */
  readonly keepCost: number;
  readonly rewriteCost: number;
  /** Turns until it has paid; infinite when it never does. */
  readonly breakEvenTurns: number;
  /** What compactions have saved so far, and may therefore cost. */
  readonly spendable: number;
}
