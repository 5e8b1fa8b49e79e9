/** A recorded session as the requests it was made of, with the sizes that its provider counted. */

import type { PriceSet } from '../compaction/economics/costs.ts';
import { defaultSummarizer } from '../compaction/options.ts';
import { createStrategy } from '../compaction/strategies/registry.ts';
import { isUserText, type Message } from '../conversation/message.ts';
import { findModel } from '../tokens/catalog.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { learnRatio } from '../tokens/measure.ts';
import type { Recording } from '../transcripts/recordings.ts';
import { promptTokensOf, type RecordedRequest } from '../transcripts/requests.ts';
import { cacheMissesOf, pricesOf, sentSeconds } from './cache-misses.ts';
import { replayCosts } from './cost-replay.ts';
import type { CostSession, CostTurn } from './cost-session.ts';

/** Requests of one model between two compactions, ready to be sent again. */
export interface RecordedStretch {
  readonly session: CostSession;
  readonly requests: readonly RecordedRequest[];
  readonly model: string;
  readonly prices: PriceSet;
  readonly windowTokens: number;
  /** Whether the model refuses its own reasoning behind a changed prefix. */
  readonly bindsReasoning: boolean;
}

/**
 * The stretches of a recording whose models have known prices. A compaction of the agent's own, a change of the model and an
 * edited prompt begin a new one, since no cache outlives any of them.
 */
export function recordedStretches(
  recording: Recording,
  requests: readonly RecordedRequest[],
  estimator: TokenEstimator,
): readonly RecordedStretch[] {
  return runsOf(requests).flatMap((run) => toStretch(recording, run, estimator));
}

function runsOf(requests: readonly RecordedRequest[]): readonly (readonly RecordedRequest[])[] {
  const runs: RecordedRequest[][] = [];
  for (const request of requests) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (last !== undefined && isContinued(last, request)) run?.push(request);
    else runs.push([request]);
  }
  return runs;
}

/** A prompt that is so much smaller than the one before it was edited: agents clear old results without a record of it. */
const EDITED_SHARE = 0.9;

function isContinued(before: RecordedRequest, { segment, charge }: RecordedRequest): boolean {
  const isEdited = promptTokensOf(charge) < EDITED_SHARE * promptTokensOf(before.charge);
  return before.segment === segment && before.charge.model === charge.model && !isEdited;
}

function toStretch(
  { transcript, conversations }: Recording,
  requests: readonly RecordedRequest[],
  estimator: TokenEstimator,
): readonly RecordedStretch[] {
  const [first] = requests;
  const conversation = conversations[first?.segment ?? -1];
  const model = first?.charge.model;
  if (first === undefined || conversation === undefined || model === undefined) return [];
  const info = findModel(model);
  const prices = pricesOf(requests);
  if (info === undefined || prices === undefined) return [];
  const { messages } = conversation;
  const sizes = countedSizes(messages, requests, estimator);
  const session: CostSession = {
    title: transcript.title,
    conversation,
    headTokens: sizes.headTokens,
    sharedTokens: Math.min(sizes.headTokens, first.charge.cacheReadTokens),
    turns: turnsOf(messages, requests),
    countedTokens: sizes.tokensOf,
  };
  const { windowTokens, bindsReasoning = false } = info;
  return [{ session, requests, model, prices, windowTokens, bindsReasoning }];
}

interface CountedSizes {
  readonly headTokens: number;
  readonly tokensOf: (message: Message) => number;
}

/**
 * What each request added to the prompt is as large as the provider counted it, and shared among the new messages by what
 * they are estimated at. The first request also sends instructions and tools: what its messages do not explain.
 */
function countedSizes(
  messages: readonly Message[],
  requests: readonly RecordedRequest[],
  estimator: TokenEstimator,
): CountedSizes {
  const { ratio } = learnRatio(messages, estimator);
  const sizes = new Map<unknown, number>();
  let headTokens = 0;
  let total = 0;
  let from = 0;
  for (const { start, charge } of requests) {
    const added = messages.slice(from, start);
    const estimates = added.map((message) => estimator.countMessage(message) * ratio);
    const estimated = estimates.reduce((sum, tokens) => sum + tokens, 0);
    const promptTokens = promptTokensOf(charge);
    const grown = Math.max(0, promptTokens - total);
    const share = estimated === 0 ? 0 : (from === 0 ? Math.min(estimated, grown) : grown) / estimated;
    if (from === 0) headTokens = Math.max(0, Math.round(promptTokens - estimated));
    for (const [index, message] of added.entries()) sizes.set(message.raw, (estimates[index] ?? 0) * share);
    total = Math.max(total, promptTokens);
    from = start;
  }
  const tokensOf = (message: Message): number =>
    sizes.get(message.raw) ?? estimator.countMessage(message) * ratio;
  return { headTokens, tokensOf };
}

function turnsOf(messages: readonly Message[], requests: readonly RecordedRequest[]): readonly CostTurn[] {
  const lost = new Map(cacheMissesOf(requests).map((miss) => [miss.request, miss]));
  let from = 0;
  let atSeconds = 0;
  return requests.map((request) => {
    const { start, charge } = request;
    atSeconds = Math.max(atSeconds, sentSeconds(request) ?? 0);
    const last = messages[start - 1];
    // Pauses are for the replay itself to see. That a cache lost something without one is only known from the record.
    const keptTokens = lost.get(request)?.cause === 'changed-prefix' ? charge.cacheReadTokens : undefined;
    const turn = {
      keptTokens,
      added: messages.slice(from, start),
      atSeconds,
      outputTokens: charge.outputTokens,
      isTaskBoundary: last !== undefined && isUserText(last),
    };
    from = start;
    return turn;
  });
}

/** What sending recorded requests again would cost, in USD. */
export interface RecordedReplay {
  /** With nothing changed: how far the replay can be believed. */
  readonly asItWas: number;
  /** With compactions by this package wherever they pay. */
  readonly withRoundfold: number;
  readonly compactions: number;
}

/** Share of the messages' tokens that a replayed compaction leaves. */
const TARGET_SHARE = 0.3;
/** Tokens that a memory and the newest rounds need to be of use together. */
const LEAST_TOKENS = 20_000;

/** Sends stretches again, as they were and with compactions by the default strategy, in which no model takes part. */
export async function replayStretches(
  stretches: readonly RecordedStretch[],
  estimator: TokenEstimator,
): Promise<RecordedReplay> {
  let total: RecordedReplay = { asItWas: 0, withRoundfold: 0, compactions: 0 };
  for (const { session, prices, windowTokens, bindsReasoning } of stretches) {
    const options = { prices, windowTokens, estimator };
    const planner = {
      strategy: createStrategy('ladder'),
      summarizer: defaultSummarizer,
      estimator,
      bindsReasoning,
    };
    const before = await replayCosts(session, undefined, options);
    const policy = {
      planner,
      when: 'advice',
      targetShare: TARGET_SHARE,
      leastTokens: LEAST_TOKENS,
    } as const;
    const after = await replayCosts(session, policy, options);
    total = {
      asItWas: total.asItWas + before.cost,
      withRoundfold: total.withRoundfold + after.cost,
      compactions: total.compactions + after.compactions.length,
    };
  }
  return total;
}
