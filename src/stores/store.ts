/** The port of stores: what they keep, and what they are asked. */
import type { AutoCompactState } from '../compaction/breaker.ts';
import type { Receipt } from '../compaction/plan/receipt.ts';

/** Messages of the original list: the first one, and the one after the last. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/**
 * A stretch of a view: messages of the original list as they are, or a message of the wire format that was made, with
 * the original messages it speaks for (a note speaks for none).
 */
export type ViewPart =
  | { readonly from: number; readonly count: number }
  | { readonly raw: unknown; readonly of?: readonly Stretch[] };

/**
 * What a compaction made of the beginning of a conversation. Immutable: it is true of every conversation that begins with
 * the very same messages, and of no other. All coordinates count from the first message behind the system messages in
 * front (see `Chain`).
 */
export interface Checkpoint {
  readonly version: 1;
  readonly tenant: string;
  /** Fingerprint of what shaped it: wire format, strategy with options, summarizer, pins. */
  readonly configuration: string;
  /** Names the conversation with all its branches: the chain after its first messages. */
  readonly conversation: string;
  /** The chain after the first `boundary` messages. */
  readonly chain: string;
  /** Number of original messages that it speaks for; all later ones stand as they are. */
  readonly boundary: number;
  /** What stands in the place of those messages. */
  readonly parts: readonly ViewPart[];
  /** Chain of the checkpoint it went on from. */
  readonly parent: string | undefined;
  /** Account of the compaction that made it, with one run for each stretch of original messages. */
  readonly receipt: Receipt;
  /** What has to be remembered so that failing runs end. */
  readonly state: AutoCompactState;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** Position of a conversation's chain: its hash after the first `boundary` messages. */
export interface ChainLink {
  readonly chain: string;
  readonly boundary: number;
}

/** A conversation as far as a store needs to know it. */
export interface CheckpointLookup {
  readonly tenant: string;
  readonly configuration: string;
  /** Names that its checkpoints may be stored under. */
  readonly conversations: readonly string[];
  /** The smallest boundary that is asked for, and the largest. */
  readonly from: number;
  readonly to: number;
  /** Whether a link is one of the conversation's chain: asked from the largest boundary on, until one is. */
  isTrue(link: ChainLink): boolean;
  /** A checkpoint that was found before. Where it is still the one, this very value is an answer: nothing has to be read. */
  readonly known?: Checkpoint | undefined;
}

/** Messages that left a view, kept byte for byte under a name made from their content. */
export interface ArchivedSpan {
  readonly tenant: string;
  readonly conversation: string;
  /** `rf:…` */
  readonly handle: string;
  /** Original coordinates: the first message, and the one after the last. */
  readonly start: number;
  readonly end: number;
  /** The messages as JSON, in UTF-8. */
  readonly body: Uint8Array;
  /** What can be searched. */
  readonly text: string;
  readonly createdAt: number;
}

export interface SpanQuery {
  readonly tenant: string;
  readonly conversation: string;
  /** Words of the user; all of them must occur. */
  readonly words: string;
  readonly limit: number;
}

export interface SpanMatch {
  readonly handle: string;
  readonly start: number;
  readonly end: number;
  /** A piece of the text around the words. */
  readonly excerpt: string;
}

/** The right to compact one conversation, until it expires. Whoever takes it later has a higher fence. */
export interface Lease {
  readonly tenant: string;
  readonly key: string;
  readonly owner: string;
  readonly fence: number;
  readonly expiresAt: number;
}

export interface LeaseRequest {
  readonly tenant: string;
  readonly key: string;
  readonly owner: string;
  readonly milliseconds: number;
}

export interface Commit {
  readonly checkpoint: Checkpoint;
  /** What left the view with it. */
  readonly spans: readonly ArchivedSpan[];
  readonly lease: Lease;
}

/**
 * - `committed`: it is stored now
 * - `known`: the same prefix of the conversation was stored before, under the same configuration; that record stays
 * - `fenced`: the lease has run out, was released, or somebody else has taken it since
 * - `forgotten`: the conversation was deleted after the lease was taken
 */
export type CommitResult = 'committed' | 'known' | 'fenced' | 'forgotten';

export interface ConversationKey {
  readonly tenant: string;
  readonly conversation: string;
}

/** A conversation as a listing shows it. */
export interface StoredConversation extends ConversationKey {
  readonly checkpoints: number;
  readonly spans: number;
  readonly bytes: number;
  readonly createdAt: number;
  readonly usedAt: number;
}

/** What may stay: older and more leaves, least recently used first. */
export interface Retention {
  readonly unusedMilliseconds?: number | undefined;
  readonly maximumBytes?: number | undefined;
}

/** What is asked for one conversation while it goes on. Places count from the first message behind the system messages in front. */
export interface Wishes {
  /**
   * Checkpoints that speak for more messages are not used, and none are made: how a fold is undone. Holds for as long as
   * the conversation fits its window.
   */
  readonly foldedUpTo?: number | undefined;
  /**
   * Messages that stay word for word, with the round they belong to. Checkpoints that were made without them are not used
   * any more: the conversation is folded anew.
   */
  readonly pinned?: readonly number[] | undefined;
}

/** What is asked for a stored conversation. */
export interface ConversationWishes extends Wishes {
  readonly conversation: string;
}

/** A record as it is exported and put back. */
export type StoreRecord = { readonly checkpoint: Checkpoint } | { readonly span: ArchivedSpan };

/** A record that cannot be served, and why. Never holds content. */
export interface StoreFault {
  readonly kind: 'checkpoint' | 'span';
  readonly tenant: string;
  /** Chain or handle of the record. */
  readonly name: string;
  readonly reason: 'damaged' | 'unknown-version' | 'wrong-key';
}

/**
 * Keeps checkpoints, what left the views, leases and what people ask for conversations. Records are immutable, written all or nothing, and checked when
 * they are read: one that is damaged, sealed with another key or of an unknown version counts as missing and is told to
 * `onFault`. Whatever else goes wrong is thrown as `RoundfoldError` `store`.
 */
export interface Store {
  readonly name: string;
  /** The longest checkpoint that is true of a conversation: one query, where the longest one is. */
  find(lookup: CheckpointLookup): Promise<Checkpoint | undefined>;
  commit(commit: Commit): Promise<CommitResult>;
  /** Undefined while somebody else holds it. Fences grow from lease to lease and are never given twice. */
  acquire(request: LeaseRequest): Promise<Lease | undefined>;
  /** The lease with a later end; undefined when it was lost. */
  renew(lease: Lease, milliseconds: number): Promise<Lease | undefined>;
  release(lease: Lease): Promise<void>;
  recall(key: { readonly tenant: string; readonly handle: string }): Promise<ArchivedSpan | undefined>;
  search(query: SpanQuery): Promise<readonly SpanMatch[]>;
  /** Conversations of one tenant, or of all, the last used first. */
  list(filter?: { readonly tenant?: string | undefined }): Promise<readonly StoredConversation[]>;
  /** The checkpoints of a conversation, the shortest first. */
  checkpoints(key: ConversationKey): Promise<readonly Checkpoint[]>;
  /** The spans of a conversation, by place. */
  spans(key: ConversationKey): Promise<readonly ArchivedSpan[]>;
  /** Puts back what was exported, several records all or nothing; one that is known stays as it is. */
  restore(records: StoreRecord | readonly StoreRecord[]): Promise<void>;
  /** Makes every record of a conversation unreadable for good, those under way included. The number of records. */
  forget(key: ConversationKey): Promise<number>;
  /** What people have asked for conversations of a tenant. It leaves with the records of the conversation. */
  wishes(tenant: string): Promise<readonly ConversationWishes[]>;
  /**
   * Changes what is asked for a conversation, with nobody else in between. What is asked now; undefined when nothing of
   * the conversation is stored.
   */
  wish(key: ConversationKey, change: (now: Wishes) => Wishes): Promise<Wishes | undefined>;
  /** Removes everything of a tenant, wishes and leases included: whoever holds one cannot write. The number of records. */
  erase(tenant: string): Promise<number>;
  /** Removes what retention does not keep. The number of records. */
  collect(retention: Retention): Promise<number>;
  /** Reads every record and tells what is wrong with it. */
  verify(): Promise<readonly StoreFault[]>;
  close(): Promise<void>;
}

/** What every store takes. */
export interface StoreOptions {
  /** Seals every record, at least 16 bytes. Records of another secret, or of none, count as missing. */
  readonly secret?: string | Uint8Array | undefined;
  /** Is told of every record that cannot be served. */
  readonly onFault?: ((fault: StoreFault) => void) | undefined;
  /** Milliseconds since 1970, for leases and last use. */
  readonly now?: (() => number) | undefined;
}
