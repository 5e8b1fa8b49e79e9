import { type CompactionEvent, type CompactorOptions, engineOptionNames } from '../compaction/options.ts';
import type { Hash } from '../conversation/chain.ts';
import type { VolatileParts } from '../conversation/volatile.ts';
import type { Store } from '../stores/store.ts';
import type { Schedule } from './held-lease.ts';
import type { KeeperEvent } from './keeper-event.ts';

export interface KeeperOptions
  extends Pick<
    CompactorOptions,
    | 'windowTokens'
    | 'format'
    | 'strategy'
    | 'options'
    | 'summarizer'
    | 'summarizerTimeout'
    | 'pins'
    | 'maxOutputTokens'
    | 'countTokens'
    | 'trigger'
    | 'target'
  > {
  readonly store: Store;
  /** The model of requests that name none. Otherwise a call says which it is, or the request itself. */
  readonly model?: string | undefined;
  /** SHA-256, for platforms with a faster one than their `node:crypto` or, where there is none, ours. */
  readonly hash?: Hash | undefined;
  /** Whose conversations they are, where a call does not say. Without a tenant nothing is looked up and nothing kept. */
  readonly tenant?: string | undefined;
  /** Milliseconds since 1970. Default: the clock. */
  readonly now?: (() => number) | undefined;
  /** Runs a task later; the answer calls it off. Default: a timer that keeps no process alive. */
  readonly schedule?: Schedule | undefined;
  /** How long a lease lasts without being renewed. Default 30 seconds. */
  readonly leaseMilliseconds?: number | undefined;
  /** How long a request that does not fit its window waits for a compaction. Default two minutes. */
  readonly patienceMilliseconds?: number | undefined;
  /** Conversations that are remembered in this process. Default 1000. */
  readonly rememberedConversations?: number | undefined;
  /** What clients change in messages that stay the same, on top of cache markers. */
  readonly volatile?: Partial<VolatileParts> | undefined;
  /** Whether what leaves a view is kept and can be read again. Default true. */
  readonly archive?: boolean | undefined;
  /** Tells checkpoints apart that were made with a strategy or summarizer of your own under the same name. */
  readonly configuration?: string | undefined;
  readonly onEvent?: ((event: KeeperEvent | CompactionEvent) => void) | undefined;
}

/** Every option of a keeper: one that is not here would do nothing, and nobody would notice. */
export const keeperOptionNames: Readonly<Record<keyof KeeperOptions, true>> = {
  ...engineOptionNames,
  store: true,
  tenant: true,
  format: true,
  hash: true,
  now: true,
  schedule: true,
  leaseMilliseconds: true,
  patienceMilliseconds: true,
  rememberedConversations: true,
  volatile: true,
  archive: true,
  configuration: true,
};
