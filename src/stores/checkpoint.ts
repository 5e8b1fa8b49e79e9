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
  /**
   * Whether every call in those messages has its result there, and every result its call: then the messages behind them tell
   * whether they may be parted. Records of earlier builds do not say.
   */
  readonly isWhole?: boolean | undefined;
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
