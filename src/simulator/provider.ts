import type { Conversation } from '../conversation/format.ts';
import type { JsonObject } from '../conversation/json.ts';
import type { ModelInfo } from '../tokens/model-info.ts';
import type { CacheLedger } from './cache-ledger.ts';
import type { Prompt } from './prompt.ts';
import type { FittedReply, OutputRoom } from './reply.ts';
import type { Turn } from './script.ts';
import type { IdSource } from './seeded.ts';

/** What the providers of one simulator share: its clock, ids, secret and cache. */
export interface World {
  /** Milliseconds. */
  readonly now: () => number;
  readonly ids: IdSource;
  /** Signs and encrypts what only the provider may judge. */
  readonly secret: string;
  /** Whether reasoning has to come back with the id of its item. */
  readonly needsReasoningIds: boolean;
  readonly cache: CacheLedger;
}

/** What the address of a request asks for. */
export interface Target {
  /** Whether only the size of the prompt is asked for. */
  readonly isCount: boolean;
  /** The model and the way of streaming, where the address names them and not the body. */
  readonly model?: string | undefined;
  readonly streamsAs?: StreamShape | undefined;
}

/** How an answer in pieces goes out: as server-sent events, or as one JSON list of them. */
export type StreamShape = 'events' | 'list';

/** An address without its host. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A request with a body that could be parsed. Names of headers are in lower case. */
export interface Call {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  readonly target: Target;
}

/** A request that broke no rule. */
export interface Accepted {
  readonly body: JsonObject;
  readonly model: string;
  /** Undefined for an answer in one piece. */
  readonly streamsAs: StreamShape | undefined;
  /** The prompt as the model gets to see it: stored history put in front, dropped thinking taken out. */
  readonly conversation: Conversation;
  /** Changes made to the input that the answer has to report. Default: none. */
  readonly transformations?: readonly object[] | undefined;
}

/** How much a model takes. */
export interface ModelLimits {
  /** Prompt and output together. */
  readonly windowTokens: number;
  readonly inputTokens: number;
}

/** What a request lets the model do. */
export interface Asked extends Pick<Turn, 'tools' | 'toolChoice' | 'mayCallInParallel' | 'thinks'> {
  /** Texts that end the output. Default: none. */
  readonly stopSequences?: readonly string[] | undefined;
  /** Default 1. */
  readonly choiceCount?: number | undefined;
  /** Whether the server is to summarise, so that the script is not asked. Default false. */
  readonly isCompaction?: boolean | undefined;
}

/** Everything an answer is made of. */
export interface Exchange {
  readonly accepted: Accepted;
  readonly prompt: Prompt;
  readonly reply: FittedReply;
  /** All answers, the first of which is `reply`, where the request asks for several. */
  readonly replies: readonly FittedReply[];
}

/** One server-sent event. */
export interface ServerEvent {
  readonly event?: string | undefined;
  readonly data: unknown;
}

/** How a provider lists models. */
export interface ModelList {
  /** Where the list is; a model is one level below. */
  readonly path: string;
  /** Whose models are listed. */
  readonly maker: string;
  writeList(models: readonly ModelInfo[]): object;
  write(model: ModelInfo): object;
  unknown(id: string): Problem;
}

/** One provider's endpoint for responses of a model. A new one is a file and a line in `routes.ts`. */
export interface Provider {
  readonly format: string;
  /** What an address of this endpoint asks for; undefined for everybody else's. */
  target(address: Address): Target | undefined;
  /** The answer to a request that only wants to know the size of its prompt. */
  countAnswer?(tokens: number): JsonObject;
  readonly models: ModelList;
  /** Whether a client that asks for a path of no model's understands this provider. The first one that says so answers. */
  speaksTo(headers: Call['headers'], path: string): boolean;
  /** What is said about a path that does not exist. */
  notFound(request: { readonly method: string; readonly path: string }): string;
  /** Body and type of an error in the provider's shape. */
  errorBody(problem: Problem, requestId: string): unknown;
  /** The header that carries the id of a request. */
  readonly requestIdHeader: string;
  hasKey(headers: Call['headers'], address: Address): boolean;
  readonly missingKey: Problem;
  /** A problem with the status that this provider has for it. Default: as it is. */
  own?(problem: Problem): Problem;
  readonly tooLargeBody: Problem;
  /** Holds the request to the contract. */
  accept(call: Call): Accepted | Refused;
  /** Whether the request lets the server drop the oldest messages. Default: it never does. */
  truncates?(body: JsonObject): boolean;
  /** Room for the output, or the provider's way to say that the prompt is too long. */
  outputRoom(promptTokens: number, accepted: Accepted, limits: ModelLimits): OutputRoom | Refused;
  readAsked(accepted: Accepted): Asked;
  /** The whole answer, as a request without `stream` gets it. */
  answer(exchange: Exchange): JsonObject;
  /** The answer as events; put together again they are the whole answer. */
  events(answer: JsonObject, body: JsonObject): readonly ServerEvent[];
  /** How a stream tells of an error after it has begun with `first`. */
  errorEvents(first: readonly ServerEvent[], problem: Problem): readonly ServerEvent[];
  /** A stream that begins well and then says that the response failed. Default: its first event, and the error. */
  failedEvents?(answer: JsonObject, problem: Problem): readonly ServerEvent[];
  /** What ends a stream besides its last event. */
  readonly streamEnd: string | undefined;
}

/** Why a request is refused, before a provider puts it into its own shape. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  /** Type of the error; default: what the provider uses with this status. */
  readonly type?: string | undefined;
  /** `error.code` on OpenAI, `error.details.error_code` on Anthropic. */
  readonly code?: string | undefined;
  /** `error.param` on OpenAI. */
  readonly param?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The contract's rule that was broken. */
  readonly rule?: string | undefined;
  /** The whole body, where a cloud in front of the provider answers in a shape of its own. */
  readonly body?: unknown;
}

/** The addresses of an endpoint with fixed paths, whose requests say everything else in their bodies. */
export function fixedPaths(path: string, countPath?: string): Provider['target'] {
  return (address) => {
    if (address.path === path) return { isCount: false };
    return address.path === countPath ? { isCount: true } : undefined;
  };
}

/** Whether a body asks for events, as it does with Anthropic and OpenAI. */
export function streamsByBody(body: JsonObject): StreamShape | undefined {
  return body['stream'] === true ? 'events' : undefined;
}

/** What stands in for a result that a refused request does not have. */
export interface Refused {
  readonly problem: Problem;
}

/** Whether a check ended in a refusal. */
export function isRefused(result: object): result is Refused {
  return 'problem' in result;
}

/** Statuses that a client repeats by itself unless it is told not to. */
const retried: ReadonlySet<number> = new Set([408, 409, 429]);

/** What the headers of an error say about trying again. */
export function retryHeaders({ status, retryAfterSeconds }: Problem): Readonly<Record<string, string>> {
  if (retryAfterSeconds !== undefined) return { 'retry-after': `${retryAfterSeconds}` };
  const isFinal = status >= 400 && status < 500 && !retried.has(status);
  return isFinal ? { 'x-should-retry': 'false' } : {};
}
