import type { Conversation } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import { groupRounds } from '../conversation/rounds.ts';
import type { TokenEstimator } from '../tokens/estimator.ts';
import { learnRatio } from '../tokens/measure.ts';
import type { Recording } from '../transcripts/recordings.ts';
import type { RecordedCompaction } from '../transcripts/transcript.ts';

/** How large the context was after each round, over all compactions. Plain data. */
export interface RoundSeries {
  readonly name: string;
  /** Tokens after each round, in stretches between compactions. */
  readonly stretches: readonly (readonly number[])[];
  /** What happened between one stretch and the next: one fewer than there are stretches. */
  readonly compactions: readonly MarkedCompaction[];
}

/** A compaction where it is marked. */
export interface MarkedCompaction {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly trigger: string | undefined;
}

/** A stretch of a session: what the model saw between two compactions. */
interface SeriesStretch {
  readonly conversation: Conversation;
  readonly opening: RecordedCompaction | undefined;
}

/** The context of a recorded session, round by round, over all its stretches. */
export function recordedSeries(
  { transcript, conversations }: Recording,
  estimator: TokenEstimator,
): RoundSeries {
  const stretches = conversations.map((conversation, index) => ({
    conversation,
    opening: transcript.segments[index]?.opening,
  }));
  return roundSeries('recorded', stretches, estimator);
}

/**
 * The context of a session, round by round: what the provider reported with each response, and estimates for
 * the rest. Linear in the size of the session.
 */
export function roundSeries(
  name: string,
  stretches: readonly SeriesStretch[],
  estimator: TokenEstimator,
): RoundSeries {
  const measured = stretches.map(({ conversation, opening }) =>
    measureStretch(conversation, opening?.carried ?? 0, estimator),
  );
  const compactions = stretches.slice(1).map(({ opening }, index) => ({
    tokensBefore: opening?.tokensBefore ?? measured[index]?.at(-1) ?? 0,
    tokensAfter: opening?.tokensAfter ?? measured[index + 1]?.[0] ?? 0,
    trigger: opening?.trigger,
  }));
  return { name, stretches: measured, compactions };
}

function measureStretch(
  { frame, messages }: Conversation,
  carried: number,
  estimator: TokenEstimator,
): readonly number[] {
  const framed =
    estimator.countSystem(frame) + estimator.countTools(frame) + estimator.profile.perRequestTokens;
  const fresh = messages.slice(carried);
  const count = createCounter(framed, learnRatio(fresh, estimator).ratio, estimator);
  // What was carried over has the usage of another time.
  for (const message of messages.slice(0, carried)) count.estimate(message);
  const sizes: number[] = carried > 0 ? [count.tokens()] : [];
  let unreported = sizes.length;
  for (const { start, end } of groupRounds(messages)) {
    for (const message of messages.slice(Math.max(start, carried), end)) count.add(message);
    if (end <= carried) continue;
    if (!count.isReported()) unreported++;
    sizes.push(count.tokens());
  }
  // Most session files leave out instructions and tools; the first report tells how much that is.
  return sizes.map((size, index) => Math.round(index < unreported ? size + count.hidden() : size));
}

/** Counts messages by what was reported with them, or by estimates. */
function createCounter(framed: number, ratio: number, estimator: TokenEstimator) {
  let tokens = framed;
  let reported = 0;
  let hidden = 0;
  let responseId: string | undefined;
  const estimate = (message: Message): void => {
    tokens += estimator.countMessage(message) * ratio;
  };
  return {
    tokens: () => tokens,
    isReported: () => reported > 0,
    /** What the first report counted beyond the estimate. */
    hidden: () => hidden,
    estimate,
    add(message: Message): void {
      const { usage } = message;
      const isSame = reported > 0 && message.responseId !== undefined && message.responseId === responseId;
      if (usage === undefined || usage.promptTokens <= 0) {
        if (!(isSame && message.role === 'assistant')) estimate(message);
        return;
      }
      const size = usage.promptTokens + usage.outputTokens;
      if (reported === 0) hidden = Math.max(0, usage.promptTokens - tokens);
      // Later records of one response repeat its usage; results between them are counted already.
      tokens = isSame ? tokens + size - reported : size;
      reported = size;
      responseId = message.responseId;
    },
  };
}
