import type { Message } from '../../src/core/message.ts';
import { pinnedMessages } from '../../src/core/pins.ts';
import { groupRounds } from '../../src/core/rounds.ts';
import type { SummaryRequest } from '../../src/core/summarizer.ts';
import { createTokenEstimator, type TokenEstimator } from '../../src/core/token-estimator.ts';
import type { Cut } from '../../src/lab/trajectory.ts';

/** One estimator for everything, so that each message is counted once. */
export const estimator: TokenEstimator = createTokenEstimator();

/** What stays as it is, and what is left for the digest. */
export interface Kept {
  readonly messages: readonly Message[];
  readonly tokens: number;
  readonly request: SummaryRequest;
}

const ROUNDS = 2;
/** Pinned texts may take half of the budget, the newest rounds a third of the rest. */
const PINNED_SHARE = 0.5;
const TAIL_SHARE = 0.3;
/** What stands around a summary in its message. */
const MESSAGE_TOKENS = 60;

/** Keeps what is pinned and the newest rounds, as far as a budget goes, and asks for a digest of the rest. */
export function keepAround({ prefix }: Cut, budgetTokens: number): Kept {
  const { messages } = prefix;
  const kept = new Set<Message>();
  let tokens = 0;
  const keep = (wanted: readonly Message[], limit: number): boolean => {
    const added = wanted.filter((message) => !kept.has(message));
    const size = estimator.countMessages(added);
    if (tokens + size > limit) return false;
    for (const message of added) kept.add(message);
    tokens += size;
    return true;
  };
  for (const index of [...pinnedMessages(messages)].sort((left, right) => right - left)) {
    keep(messages.slice(index, index + 1), budgetTokens * PINNED_SHARE);
  }
  const limit = tokens + (budgetTokens - tokens) * TAIL_SHARE;
  for (const { start, end } of groupRounds(messages, { userTextJoins: 'next' })
    .slice(1)
    .slice(-ROUNDS)
    .toReversed()) {
    if (!keep(messages.slice(start, end), limit)) break;
  }
  return {
    messages: messages.filter((message) => kept.has(message)),
    tokens,
    request: {
      messages: messages.filter((message) => !kept.has(message)),
      conversation: prefix,
      previousSummary: undefined,
      instructions: undefined,
      maximumTokens: Math.floor(budgetTokens - tokens - MESSAGE_TOKENS),
      estimator,
      signal: undefined,
    },
  };
}
