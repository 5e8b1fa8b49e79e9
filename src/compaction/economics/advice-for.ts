import type { Conversation } from '../../conversation/format.ts';
import { isUserText, type Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { Thresholds } from '../../tokens/thresholds.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import { requestTokens } from '../plan/receipt.ts';
import { adviseCompaction, type CompactionAdvice } from './advice.ts';
import type { CostLedger } from './ledger.ts';
import type { PriceSet } from './price-set.ts';
import type { Rewrite } from './rewrite-quote.ts';

export interface AdviceOptions {
  readonly estimator: TokenEstimator;
  readonly prices: PriceSet;
  /** From the trigger on, the window leaves no choice. */
  readonly thresholds: Thresholds;
  /** Seconds since the last request was sent. */
  readonly idleSeconds: number;
  /** What was paid and saved so far. Default: nothing was saved. */
  readonly ledger?: CostLedger | undefined;
  /** Tokens of the request as it is, as the provider counts them. Default: as they are estimated. */
  readonly promptTokens?: number | undefined;
  /** Requests so far, where more are known of than the conversation still has. */
  readonly turnsSoFar?: number | undefined;
  /** The call that writes the summary, if a model does. */
  readonly summaryCall?: Rewrite['summaryCall'];
}

/**
 * Whether a planned compaction pays, by the conversation as it is and as it would be. Rounds are turns: the newest is
 * what no request had yet, and all of them together tell how much a turn adds.
 */
export function adviceFor(
  before: Conversation,
  after: Conversation,
  options: AdviceOptions,
): CompactionAdvice {
  const { estimator, prices, thresholds, idleSeconds, ledger, summaryCall } = options;
  const sizes = rewriteSizes(before, after, options);
  const { turns, newTokens, tokensPerTurn } = pace(before.messages, estimator);
  return adviseCompaction({
    prices,
    tokensBefore: sizes.tokensBefore,
    tokensBehind: sizes.tokensBehind,
    tokensBehindAfter: sizes.tokensBehindAfter,
    newTokens: newTokens * sizes.scale,
    tokensPerTurn: tokensPerTurn * sizes.scale,
    idleSeconds,
    summaryCall,
    turnsSoFar: Math.max(turns, options.turnsSoFar ?? 0),
    windowTokens: mostTokens(thresholds),
    reserveTokens: 0,
    isTaskBoundary: isTaskBoundary(before),
    ledger,
  });
}

/** The most that a request may have without being compacted; 0 when there is no limit. */
export function mostTokens({ triggerTokens }: Thresholds): number {
  return Number.isFinite(triggerTokens) ? triggerTokens - 1 : 0;
}

/** Whether nothing is under way: the request ends in words of the user. */
export function isTaskBoundary({ messages }: Conversation): boolean {
  const last = messages.at(-1);
  return last !== undefined && isUserText(last);
}

/** A rewrite in tokens of the provider. */
export interface RewriteSizes {
  /** Instructions, tools and the messages before the first one that changes. */
  readonly tokensBefore: number;
  /** From the first changed message on. */
  readonly tokensBehind: number;
  /** The same after it. */
  readonly tokensBehindAfter: number;
  /** Tokens of the provider for each estimated one. */
  readonly scale: number;
}

/** What stands before the first change, and what is behind it, before and after. */
export function rewriteSizes(
  before: Conversation,
  after: Conversation,
  { estimator, promptTokens }: Pick<AdviceOptions, 'estimator' | 'promptTokens'>,
): RewriteSizes {
  const estimate = requestTokens(before, estimator);
  const whole = promptTokens ?? Math.round(estimate);
  const scale = whole > 0 && estimate > 0 ? whole / estimate : 1;
  const changed = before.messages.findIndex(({ raw }, index) => raw !== after.messages[index]?.raw);
  const behind = changed === -1 ? [] : before.messages.slice(changed);
  const tokensBehind = Math.min(whole, Math.round(countEach(behind, estimator) * scale));
  const tokensBefore = whole - tokensBehind;
  const tokensAfter = Math.round(requestTokens(after, estimator) * scale);
  return { tokensBefore, tokensBehind, tokensBehindAfter: Math.max(0, tokensAfter - tokensBefore), scale };
}

/** How a conversation goes on, in estimated tokens. */
interface Pace {
  readonly turns: number;
  /** The newest response and what follows it. */
  readonly newTokens: number;
  /** What a turn adds, as a mean. */
  readonly tokensPerTurn: number;
}

function pace(messages: readonly Message[], estimator: TokenEstimator): Pace {
  const rounds = groupRounds(messages).filter(({ kind }) => kind === 'response');
  const [first, last] = [rounds[0], rounds.at(-1)];
  const tokensSince = (start: number | undefined) => countEach(messages.slice(start ?? 0), estimator);
  return {
    turns: rounds.length,
    newTokens: tokensSince(last?.start),
    tokensPerTurn: first === undefined ? 0 : tokensSince(first.start) / rounds.length,
  };
}

// One by one, since a sum over a list remembers that list.
function countEach(messages: readonly Message[], estimator: TokenEstimator): number {
  return messages.reduce((sum, message) => sum + estimator.countMessage(message), 0);
}
