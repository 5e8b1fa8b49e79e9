import type { TokenWarningState } from './budget.ts';
import type { CompactTrigger, Outcome } from './strategy.ts';

/** What a compactor tells those who listen. Never holds content of messages. */
export type CompactionEvent =
  | { readonly type: 'compaction-start'; readonly trigger: CompactTrigger; readonly tokens: number }
  | { readonly type: 'compaction-end'; readonly trigger: CompactTrigger; readonly outcome: Outcome }
  | {
      readonly type: 'token-warning';
      readonly level: TokenWarningState;
      readonly tokens: number;
      readonly windowTokens: number;
    }
  | { readonly type: 'compaction-paused'; readonly reason: string; readonly turns: number };
