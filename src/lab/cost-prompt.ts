import type { PromptSegment } from '../compaction/economics/prompt-cache.ts';
import { runCompaction } from '../compaction/engine.ts';
import { createEngine } from '../compaction/options.ts';
import type { Outcome, Strategy } from '../compaction/plan/strategy.ts';
import { withMessages } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { CostSession } from './cost-session.ts';

/** Turns lists of messages into prompts as a cache sees them. */
export interface PromptMaker {
  /** Instructions and tools as one segment, then a segment for each message. The same message is the same segment. */
  segmentsOf(messages: readonly Message[]): readonly PromptSegment[];
}

/** Names every message of a replay, by the value it was read from. */
export function createPromptMaker({ headTokens }: CostSession, estimator: TokenEstimator): PromptMaker {
  const ids = new Map<unknown, string>();
  const idOf = (raw: unknown): string => {
    const id = ids.get(raw) ?? `message ${ids.size}`;
    ids.set(raw, id);
    return id;
  };
  const head = { id: 'head', tokens: headTokens };
  return {
    segmentsOf: (messages) => [
      head,
      ...messages.map((message) => ({
        id: idOf(message.raw),
        tokens: Math.round(estimator.countMessage(message)),
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
