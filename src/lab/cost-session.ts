/** A recorded session as the requests it was made of, for the replay of its costs. */

import type { PromptSegment } from '../compaction/economics/prompt-cache.ts';
import { runCompaction } from '../compaction/engine.ts';
import { createEngine } from '../compaction/options.ts';
import type { Outcome, Strategy } from '../compaction/plan/strategy.ts';
import { type Conversation, withMessages } from '../conversation/format.ts';
import { isUserText, type Message } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { Origin } from '../transcripts/transcript.ts';

/** One request of a recorded session. */
export interface CostTurn {
  /** What it adds to the request before it: the last answer, results of its calls, words of the user. */
  readonly added: readonly Message[];
  /** When it was sent. Where nothing is known, at the time of the request before it. */
  readonly atSeconds: number;
  /** Tokens of its answer. */
  readonly outputTokens: number;
  /** Whether it ends in a new text of the user. */
  readonly isTaskBoundary: boolean;
  /** Tokens of its head behind which the provider's cache had lost everything. Default: it had lost nothing. */
  readonly keptTokens?: number | undefined;
}

/** A stretch of a recorded session between two compactions of its harness, as the requests that it was made of. */
export interface CostSession {
  readonly title: string;
  readonly conversation: Conversation;
  /** Tokens of instructions and tools. */
  readonly headTokens: number;
  /** How many of these a cache already has before the first request, from other sessions. Default 0. */
  readonly sharedTokens?: number | undefined;
  readonly turns: readonly CostTurn[];
  /** Tokens of a message in the provider's own count. Default: as it is estimated. */
  readonly countedTokens?: ((message: Message) => number) | undefined;
}

/** Instructions and tools of a coding agent, where a recording neither contains them nor tells their size. */
export const ASSUMED_HEAD_TOKENS = 15_000;

export interface CostSessionOptions {
  readonly estimator: TokenEstimator;
  /**
   * Tokens of instructions and tools. Default: those that the recording contains; else what the usage of its first answer
   * has beyond its messages; else 15,000.
   */
  readonly headTokens?: number | undefined;
}

/** The stretches of a recording that have at least two requests. */
export function costSessionsOf(
  { transcript, conversations }: Recording,
  { estimator, headTokens }: CostSessionOptions,
): readonly CostSession[] {
  return conversations
    .map((conversation, stretch) => ({
      title: transcript.title,
      conversation,
      headTokens: headTokens ?? headTokensOf(conversation, estimator),
      turns: turnsOf(conversation.messages, transcript.segments[stretch]?.origins ?? [], estimator),
    }))
    .filter(({ turns }) => turns.length > 1);
}

function headTokensOf({ frame, messages }: Conversation, estimator: TokenEstimator): number {
  const counted = estimator.countSystem(frame) + estimator.countTools(frame);
  if (counted > 0) return Math.round(counted);
  const first = messages.findIndex(({ usage }) => usage !== undefined && usage.promptTokens > 0);
  const reported = messages[first]?.usage?.promptTokens;
  if (reported === undefined) return ASSUMED_HEAD_TOKENS;
  return Math.max(0, Math.round(reported - estimator.countMessages(messages.slice(0, first))));
}

function turnsOf(
  messages: readonly Message[],
  origins: readonly Origin[],
  estimator: TokenEstimator,
): readonly CostTurn[] {
  const turns: CostTurn[] = [];
  let from = 0;
  let atSeconds = 0;
  for (const { kind, start } of groupRounds(messages)) {
    const response = messages[start];
    const last = messages[start - 1];
    if (kind !== 'response' || response === undefined || last === undefined) continue;
    const seconds = Date.parse(origins[start - 1]?.timestamp ?? '') / 1000;
    atSeconds = Math.max(atSeconds, Number.isNaN(seconds) ? 0 : seconds);
    turns.push({
      added: messages.slice(from, start),
      atSeconds,
      outputTokens: Math.round(estimator.countMessage(response)),
      isTaskBoundary: isUserText(last),
    });
    from = start;
  }
  return turns;
}

/** Turns lists of messages into prompts as a cache sees them. */
export interface PromptMaker {
  /** What a cache has of every prompt before the first one is sent. */
  readonly shared: readonly PromptSegment[];
  /** Instructions and tools as one segment, then a segment for each message. The same message is the same segment. */
  segmentsOf(messages: readonly Message[]): readonly PromptSegment[];
}

/** Names every message of a replay, by the value it was read from. */
export function createPromptMaker(session: CostSession, estimator: TokenEstimator): PromptMaker {
  const { headTokens, sharedTokens = 0, countedTokens } = session;
  const ids = new Map<unknown, string>();
  const idOf = (raw: unknown): string => {
    const id = ids.get(raw) ?? `message ${ids.size}`;
    ids.set(raw, id);
    return id;
  };
  const shared = sharedTokens > 0 ? [{ id: 'shared', tokens: sharedTokens }] : [];
  const head = { id: 'head', tokens: headTokens - sharedTokens };
  return {
    shared,
    segmentsOf: (messages) => [
      ...shared,
      head,
      ...messages.map((message) => ({
        id: idOf(message.raw),
        tokens: Math.round(countedTokens?.(message) ?? estimator.countMessage(message)),
      })),
    ],
  };
}

/** Tokens of a prompt. */
export function tokensOf(segments: readonly PromptSegment[]): number {
  return segments.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The numbers of a rewrite: what stands before its first change, and what is behind it, before and after. */
export function rewriteSizes(before: readonly PromptSegment[], after: readonly PromptSegment[]) {
  const changed = before.findIndex(({ id }, index) => id !== after[index]?.id);
  const first = changed === -1 ? before.length : changed;
  return {
    tokensBefore: tokensOf(before.slice(0, first)),
    tokensBehind: tokensOf(before.slice(first)),
    tokensBehindAfter: tokensOf(after.slice(first)),
  };
}

/** Who plans compactions of a replay, and with what. */
export interface Planner {
  readonly strategy: Strategy;
  readonly summarizer: Summarizer;
  readonly estimator: TokenEstimator;
  /** Whether the model refuses its own reasoning behind a changed prefix. Default false. */
  readonly bindsReasoning?: boolean | undefined;
}

/** What a strategy makes of the messages when so many tokens of them may stay. */
export function planCompaction(
  { conversation }: CostSession,
  messages: readonly Message[],
  messageTokens: number,
  { strategy, summarizer, estimator, bindsReasoning = false }: Planner,
): Promise<Outcome> {
  const current = withMessages(conversation, messages);
  const framed = requestTokens(current, estimator) - estimator.countMessages(messages);
  const engine = { ...createEngine({ windowTokens: 0, strategy, summarizer }), estimator, bindsReasoning };
  const turn = {
    conversation: current,
    tokens: requestTokens(current, estimator),
    idleSeconds: undefined,
    signal: undefined,
  };
  const targetTokens = Math.floor(messageTokens + framed);
  return runCompaction(engine, turn, { trigger: 'auto', targetTokens }).then(({ outcome }) => outcome);
}
