/** A model of a provider's prompt cache: which prefix is read, what is written, when it expires. */

import type { CacheTerms } from '../../tokens/model-info.ts';
import {
  type BilledTokens,
  billRequest,
  cacheOf,
  costOf,
  entryTtlSeconds,
  type PriceSet,
  type RequestSize,
} from './costs.ts';

/** A stretch of a prompt that is sent as a whole: instructions and tools, a message, a block. */
export interface PromptSegment {
  /** The same for the same content, and only for that. */
  readonly id: string;
  readonly tokens: number;
  /** Whether the request marks its end for the cache. */
  readonly isBreakpoint?: boolean | undefined;
}

/** A request as the cache sees it. */
export interface PromptRequest {
  readonly segments: readonly PromptSegment[];
  /** Seconds on any clock that does not go back. */
  readonly atSeconds: number;
  /** Default 0. */
  readonly outputTokens?: number | undefined;
  /** Tokens of its head behind which the cache has lost everything. Default: it has lost nothing. */
  readonly keptTokens?: number | undefined;
}

/** A provider's prompt cache as far as one conversation can see it. */
export interface PromptCache {
  /** How the request is billed; the cache has its prefix from then on. */
  send(request: PromptRequest): BilledTokens;
  /** Tokens of the head of such a request that the cache has. Changes nothing. */
  cachedTokens(request: PromptRequest): number;
}

/** Every prefix that was sent, as a tree of its segments. */
interface PrefixNode {
  readonly next: Map<string, PrefixNode>;
  /** When its cache entry is gone. */
  endsAtSeconds: number;
  /** The last request that wrote it. */
  writtenBy: number;
}

interface PathStep {
  readonly node: PrefixNode;
  /** Tokens of the prompt up to and with it. */
  readonly tokens: number;
}

const MAX_BREAKPOINTS = 4;

/**
 * An empty cache. The longest prefix that was sent before, segment by segment, and is still alive is read; the rest is
 * written. Reading makes an entry young again.
 *
 * Where the request has to mark what is cached, there are entries only at breakpoints (the last four of a request). A
 * request that marks nothing is taken to be sent by a client that marks the end of its first segment (instructions and
 * tools), the longest prefix it knows to be cached, and its end.
 */
export function createPromptCache(set: PriceSet): PromptCache {
  const terms = cacheOf(set);
  const ttlSeconds = entryTtlSeconds(set);
  const root = emptyNode();
  let requests = 0;

  const findHit = (path: readonly PathStep[], { segments, atSeconds }: PromptRequest): number => {
    if (terms === undefined) return -1;
    const isInReach = reachOf(segments, terms);
    const forgotten = requests - (terms.requestEndsMatched ?? requests);
    return path.findLastIndex(
      ({ node }, index) => node.endsAtSeconds > atSeconds && node.writtenBy > forgotten && isInReach(index),
    );
  };

  const write = ({ node, tokens }: PathStep, atSeconds: number): void => {
    if (tokens < (terms?.minimumPrefixTokens ?? 0)) return;
    node.endsAtSeconds = atSeconds + ttlSeconds;
    node.writtenBy = requests;
  };

  return {
    cachedTokens(request) {
      const path = knownPath(root, request.segments);
      return keptOf(path[findHit(path, request)], request);
    },

    send(request) {
      const path = walk(root, request.segments);
      const hit = path[findHit(path, request)];
      const marks = terms === undefined ? [] : entryIndices(request.segments, terms);
      requests++;
      if (hit !== undefined) hit.node.endsAtSeconds = request.atSeconds + ttlSeconds;
      for (const index of marks) {
        const step = path[index];
        if (step !== undefined) write(step, request.atSeconds);
      }
      const size = { promptTokens: path.at(-1)?.tokens ?? 0, cachedTokens: keptOf(hit, request) };
      const markedTokens = path[marks.at(-1) ?? -1]?.tokens ?? 0;
      return billMarked(set, { ...size, outputTokens: request.outputTokens }, markedTokens);
    },
  };
}

function keptOf(hit: PathStep | undefined, { keptTokens = Number.POSITIVE_INFINITY }: PromptRequest): number {
  return Math.min(hit?.tokens ?? 0, keptTokens);
}

/** Bills a request of which everything up to its last mark is cached, and the rest is plain input. */
function billMarked(set: PriceSet, request: RequestSize, markedTokens: number): BilledTokens {
  const marked = Math.max(markedTokens, request.cachedTokens);
  const billed = billRequest(set, { ...request, promptTokens: marked });
  return { ...billed, uncachedTokens: billed.uncachedTokens + request.promptTokens - marked };
}

function emptyNode(): PrefixNode {
  return { next: new Map(), endsAtSeconds: Number.NEGATIVE_INFINITY, writtenBy: 0 };
}

/** The nodes of a prompt, made where there are none yet. */
function walk(root: PrefixNode, segments: readonly PromptSegment[]): readonly PathStep[] {
  let node = root;
  let tokens = 0;
  return segments.map((segment) => {
    const next = node.next.get(segment.id) ?? emptyNode();
    node.next.set(segment.id, next);
    node = next;
    tokens += segment.tokens;
    return { node, tokens };
  });
}

/** The nodes of a prompt as far as it was sent before. */
function knownPath(root: PrefixNode, segments: readonly PromptSegment[]): readonly PathStep[] {
  const path: PathStep[] = [];
  let node: PrefixNode | undefined = root;
  let tokens = 0;
  for (const segment of segments) {
    node = node.next.get(segment.id);
    if (node === undefined) break;
    tokens += segment.tokens;
    path.push({ node, tokens });
  }
  return path;
}

/** Where a request leaves entries, in order. */
function entryIndices(segments: readonly PromptSegment[], terms: CacheTerms): readonly number[] {
  const last = segments.length - 1;
  if (terms.writes === 'automatic')
    return terms.requestEndsMatched === undefined ? segments.map((_, index) => index) : [last];
  const marked = markedIndices(segments);
  return marked.length === 0 ? [0, last] : marked;
}

function markedIndices(segments: readonly PromptSegment[]): readonly number[] {
  return segments
    .flatMap(({ isBreakpoint }, index) => (isBreakpoint === true ? [index] : []))
    .slice(-MAX_BREAKPOINTS);
}

/** Whether the look-back from one of the request's own breakpoints gets to a place. */
function reachOf(segments: readonly PromptSegment[], terms: CacheTerms): (index: number) => boolean {
  const marks = terms.writes === 'automatic' ? [] : markedIndices(segments);
  const blocks = terms.lookBackBlocks ?? Number.POSITIVE_INFINITY;
  return (index) => marks.length === 0 || marks.some((mark) => mark >= index && mark - index < blocks);
}

/** What a sequence of requests costs. */
export interface ReplayCost extends BilledTokens {
  readonly requests: number;
  /** In USD. */
  readonly cost: number;
}

/** What a request of a sequence costs. */
export interface ReplayedRequest extends BilledTokens {
  /** In USD. */
  readonly cost: number;
}

/** Sends requests one after the other to an empty cache and gives what each of them costs. */
export function* replayRequests(
  requests: Iterable<PromptRequest>,
  prices: PriceSet,
): Generator<ReplayedRequest, void, undefined> {
  const cache = createPromptCache(prices);
  for (const request of requests) {
    const billed = cache.send(request);
    yield { ...billed, cost: costOf(prices, billed) };
  }
}

const nothing: ReplayCost = {
  requests: 0,
  readTokens: 0,
  writtenTokens: 0,
  uncachedTokens: 0,
  outputTokens: 0,
  cost: 0,
};

/** What a sequence of requests costs together, from an empty cache on. */
export function replayCost(requests: Iterable<PromptRequest>, prices: PriceSet): ReplayCost {
  let total = nothing;
  for (const replayed of replayRequests(requests, prices)) total = add(total, replayed);
  return total;
}

function add(total: ReplayCost, one: ReplayedRequest): ReplayCost {
  return {
    requests: total.requests + 1,
    readTokens: total.readTokens + one.readTokens,
    writtenTokens: total.writtenTokens + one.writtenTokens,
    uncachedTokens: total.uncachedTokens + one.uncachedTokens,
    outputTokens: total.outputTokens + one.outputTokens,
    cost: total.cost + one.cost,
  };
}
