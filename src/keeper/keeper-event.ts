import type { CompactionEvent } from '../compaction/options.ts';
import type { CommitResult } from '../stores/store.ts';

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
 * Why nobody may touch a request:
 *
 * - `no-tenant`: it is nobody's, so that nothing may be looked up or kept
 * - `provider-holds-history`: the list is not all of it; the rest is with the provider
 * - `provider-compacts`: the client has asked the provider to compact the conversation itself
 * - `client-compacts`: it is the client's own compaction, which has to see all of the history
 * - `folded-calls`: tool calls are folded into texts in a way that cannot be undone exactly
 * - `unknown-model`: nobody knows its window
 * - `failed`: something went wrong that nobody thought of
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
