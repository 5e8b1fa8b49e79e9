import type { CompactionEvent } from '../compaction/options.ts';
import type { Usage } from '../conversation/message.ts';
import type { PreparedStatus } from '../keeper/keeper.ts';
import type { KeeperEvent, PassReason } from '../keeper/options.ts';

/** What a route is for: a model's answer, the count of a request, the list of models, a provider's own compaction, or anything else. */
export type RouteKind = 'generate' | 'count' | 'models' | 'compact' | 'other';

/**
 * Why the proxy left a request as it came, where the keeper was not even asked:
 *
 * - `observing`: the proxy runs in `observe` mode
 * - `bypassed`: the request asked for it with a header
 * - `not-a-conversation`: no route of a model, or a body that is none of its format
 * - `unreadable`: its body is no JSON object
 * - `fragment`: a count of something else than a whole conversation
 * - `compaction-answered`: it asked for a compaction and went nowhere: the answer is a memory of our own
 */
export type ProxyPassReason =
  | PassReason
  | 'observing'
  | 'bypassed'
  | 'not-a-conversation'
  | 'unreadable'
  | 'fragment'
  | 'compaction-answered';

/** Tokens as a provider reported them. What it reads from its cache and writes to it is part of `promptTokens`. */
export interface ReportedUsage extends Usage {
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
}

/** What became of one request that came through. Holds no content of messages and no credential. */
export interface ExchangeRecord {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly kind: RouteKind;
  /** Wire format of the route; undefined for routes that are no model's. */
  readonly format: string | undefined;
  /** A hash: credentials are never kept. */
  readonly tenant: string | undefined;
  /** The keeper's name of the conversation, where it could be read. */
  readonly conversation: string | undefined;
  /** Every name that the conversation can have: it gets its last one with its fourth message. */
  readonly names?: readonly string[] | undefined;
  /** The client as its headers name it: `claude-code`, `codex`, `opencode`. */
  readonly client: string | undefined;
  readonly model: string | undefined;
  readonly status: PreparedStatus;
  readonly reason: ProxyPassReason | undefined;
  /** Number of messages received. */
  readonly messages: number;
  /** Estimates of the request as it came and as it went on. */
  readonly tokensReceived: number | undefined;
  readonly tokensSent: number | undefined;
  /** Tokens received by kind of what they are for, in the order they are drawn: `instructions`, `tools`, `results` and so on. */
  readonly tokensByKind: Readonly<Record<string, number>> | undefined;
  /** The window that counts for this request, and where a compaction is due. */
  readonly windowTokens: number | undefined;
  readonly triggerTokens: number | undefined;
  /** Chain of the checkpoint whose view was sent. */
  readonly checkpoint: string | undefined;
  /** How often an overflow answer was recovered from inside this request. */
  readonly recoveries: number;
  /** Of the answer that the client got; undefined when none came. */
  readonly httpStatus: number | undefined;
  /** Where it went: scheme, name and port. */
  readonly upstream?: string | undefined;
  /** Why no answer came, in words; undefined when one came, and when the client did not wait for it. */
  readonly fault?: string | undefined;
  /** What the provider reported. */
  readonly usage: ReportedUsage | undefined;
  readonly streamed: boolean;
  readonly prepareMs: number;
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
}

/**
 * Why the proxy itself refused a request, which then went nowhere:
 *
 * - `no-token`, `wrong-host`, `web-page`: it may not come in (401, 421, 403)
 * - `no-path`, `no-page`, `no-upstream`: it names nothing that is here (400, 404)
 * - `too-large`, `busy`: it is above a limit (413, 429)
 * - `websocket`: requests over HTTP are taken instead (426)
 * - `cannot-compact`: it asks for a compaction of something that it does not hold (400)
 * - `no-answer`: upstream could not be reached or did not answer (502, 504)
 * - `internal`: a fault of ours (500)
 */
export type RefusalReason =
  | 'no-token'
  | 'wrong-host'
  | 'web-page'
  | 'no-path'
  | 'no-page'
  | 'no-upstream'
  | 'too-large'
  | 'busy'
  | 'websocket'
  | 'cannot-compact'
  | 'no-answer'
  | 'internal';

/** A request that the proxy itself refused. Those that got no answer from upstream are told as exchanges. */
export interface RefusalRecord {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly kind: RouteKind;
  /** Wire format of the route; undefined for routes that are no model's. */
  readonly format: string | undefined;
  readonly client: string | undefined;
  readonly reason: RefusalReason;
  readonly httpStatus: number;
}

/** What keeping conversations tells. Never holds content of messages. */
export type FoldEvent = KeeperEvent | Exclude<CompactionEvent, { readonly type: 'compaction-end' }>;

/** Is told what happens in a proxy. Must not throw; what it does with it is its own matter. */
export interface ProxyObserver {
  exchange?(record: ExchangeRecord): void;
  refused?(record: RefusalRecord): void;
  keeperEvent?(event: FoldEvent): void;
  /** A model's true window, learnt from an overflow answer. */
  windowLearnt?(model: string, windowTokens: number): void;
  streamOpened?(): void;
  streamClosed?(): void;
}
