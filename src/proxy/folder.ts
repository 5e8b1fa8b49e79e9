import type { Usage } from '../conversation/message.ts';
import type { OverflowFacts } from '../formats/overflow/detect.ts';
import type { PreparedStatus } from '../keeper/keeper.ts';
import type { ConversationWishes } from '../stores/store.ts';
import type { ProxyPassReason } from './record.ts';
import type { Route } from './routes.ts';

/** A request to a model, as far as it counts for what is sent. Plain data, so that it can go to another thread. */
export interface FoldRequest {
  readonly route: Route & { readonly format: string };
  /** The JSON text of its body. */
  readonly body: Uint8Array;
  /** Undefined when nothing tells whose it is. */
  readonly tenant: string | undefined;
  /** Name of the upstream it goes to. */
  readonly upstream: string;
  /** What the `anthropic-beta` header asks for. */
  readonly betas: string | undefined;
  /** The request says itself that it shall pass. */
  readonly isBypassed: boolean;
  /** What people have asked for conversations of this tenant. */
  readonly wishes: readonly ConversationWishes[];
  /** What upstream said of the tries before this one, oldest first. */
  readonly refusals: readonly Refusal[];
}

/** A try that did not fit. */
export interface Refusal {
  readonly overflow: OverflowFacts;
  /** Our estimate of what was sent. */
  readonly tokensSent: number;
}

/** What to send, and what to tell of it. Plain data. */
export interface Folded {
  readonly status: PreparedStatus;
  readonly reason: ProxyPassReason | undefined;
  /** The JSON text to send instead; undefined when the request goes on as it came. */
  readonly body: Uint8Array | undefined;
  readonly model: string | undefined;
  readonly conversation: string | undefined;
  /** Every name that the conversation can have. */
  readonly names: readonly string[];
  readonly messages: number;
  readonly tokensReceived: number | undefined;
  readonly tokensSent: number | undefined;
  readonly tokensByKind: Readonly<Record<string, number>> | undefined;
  readonly windowTokens: number | undefined;
  readonly triggerTokens: number | undefined;
  /** Chain of the checkpoint whose view it is, and whether the store has taken it. */
  readonly checkpoint: string | undefined;
  readonly isStored: boolean;
  readonly streams: boolean;
  /** Whether a request that turns out to be too long may be sent again with less in it. */
  readonly mayBeReduced: boolean;
  /** Names this request when its answer is reported. */
  readonly turn: TurnName | undefined;
}

/** A request of a conversation, by which the next one is known that goes on from its answer. */
export interface TurnName {
  readonly tenant: string;
  readonly conversation: string;
  /** Number of messages it had, and a hash of the last one. */
  readonly length: number;
  readonly last: string;
}

/** Decides what is sent. Never throws for what a client sends. */
export interface Folder {
  fold(request: FoldRequest, signal?: AbortSignal): Promise<Folded>;
  /** What the provider reported with the answer to a request. */
  report(turn: TurnName, usage: Usage): void;
  /** Waits for work in the background. */
  settle(): Promise<void>;
  /** Gives all work up and waits for its end. */
  close(): Promise<void>;
}
