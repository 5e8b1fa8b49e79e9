/** Options and events of a keeper. */

import { type CompactionEvent, type CompactorOptions, engineOptionNames } from '../compaction/options.ts';
import type { VolatileParts } from '../conversation/identity.ts';
import type { Usage } from '../conversation/message.ts';
import type { Hash } from '../conversation/sha256.ts';
import type { CommitResult, Store } from '../stores/store.ts';

/** Runs a task later; the answer calls it off. */
export type Schedule = (task: () => void, milliseconds: number) => () => void;

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
  /**
   * From which size on a compaction takes the place of what it covers: tokens, or a share of the window (up to 1). Until then it
   * is made and kept ready, and requests go out as before, which costs least as long as they fit. Default: as soon as it is ready.
   */
  readonly foldAt?: number | undefined;
  /** What clients change in messages that stay the same, on top of cache markers. */
  readonly volatile?: Partial<VolatileParts> | undefined;
  /** Whether what leaves a view is kept and can be read again. Default true. */
  readonly archive?: boolean | undefined;
  /** Tells checkpoints apart that were made with a strategy or summarizer of your own under the same name. */
  readonly configuration?: string | undefined;
  readonly onEvent?: ((event: KeeperEvent | CompactionEvent) => void) | undefined;
}

/** Every option of a keeper. Names that are not here are refused. */
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
  foldAt: true,
  volatile: true,
  archive: true,
  configuration: true,
};

/** What a keeper tells those who listen. Never holds content of messages. */
export type KeeperEvent =
  /** A checkpoint that was not in use before is true of this conversation. */
  | { readonly type: 'checkpoint-found'; readonly conversation: string; readonly boundary: number }
  | { readonly type: 'checkpoint-saved'; readonly conversation: string; readonly boundary: number }
  /** Made, and not stored: somebody else was faster, or the conversation was deleted. */
  | {
      readonly type: 'checkpoint-refused';
      readonly conversation: string;
      readonly boundary: number;
      readonly reason: Exclude<CommitResult, 'committed'> | 'no-cut';
    }
  /** One that was in use is no longer stored. */
  | { readonly type: 'checkpoint-lost'; readonly conversation: string; readonly boundary: number }
  /** Somebody else compacts this conversation. */
  | { readonly type: 'lease-held'; readonly conversation: string }
  /** The store did not answer; the request goes out with what is known here. */
  | { readonly type: 'store-failed'; readonly operation: StoreOperation; readonly error: unknown }
  /** A request would not have fitted its window: it goes out with less, and nothing of that is stored. */
  | { readonly type: 'request-reduced'; readonly tokens: number; readonly tokensAfter: number }
  /** A model was asked for a summary, whatever came of it: what it reported, and which one it was where that is known. */
  | {
      readonly type: 'summary-paid';
      readonly tenant: string;
      readonly conversation: string;
      readonly model: string | undefined;
      readonly usage: Usage;
    }
  | { readonly type: 'compaction-failed'; readonly conversation: string; readonly error: unknown }
  /** Failing runs have made it pause. */
  | Extract<CompactionEvent, { readonly type: 'compaction-paused' }>
  /** A request goes out as it came; `detail` names the field, the client or the like that is the reason. */
  | { readonly type: 'request-passed'; readonly reason: PassReason; readonly detail?: string | undefined }
  /** Message `index` folds tool calls into its text in a way that cannot be undone exactly: nothing is kept of such a list. */
  | { readonly type: 'view-refused'; readonly index: number; readonly reason: string }
  /** Something else went wrong: the request goes out as it came. */
  | { readonly type: 'prepare-failed'; readonly error: unknown };

/**
 * Why a request is not touched:
 *
 * - `no-tenant`: it belongs to no tenant, so nothing may be looked up or kept
 * - `provider-holds-history`: the list is not all of it; the rest is with the provider
 * - `provider-compacts`: the client has asked the provider to compact the conversation itself
 * - `client-compacts`: it is the client's own compaction, which has to see all of the history
 * - `folded-calls`: tool calls are folded into texts in a way that cannot be undone exactly
 * - `unknown-model`: the window of its model is not known
 * - `failed`: something unexpected went wrong
 */
export type PassReason =
  | 'no-tenant'
  | 'provider-holds-history'
  | 'provider-compacts'
  | 'client-compacts'
  | 'folded-calls'
  | 'unknown-model'
  | 'failed';

export type StoreOperation = 'find' | 'acquire' | 'renew' | 'commit' | 'release';
