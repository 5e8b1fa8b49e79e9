/** What a row of a comparison is, and how a strategy becomes one. */

import { runCompaction } from '../compaction/engine.ts';
import { createEngine } from '../compaction/options.ts';
import { changeOf, type Outcome, type Strategy } from '../compaction/plan/strategy.ts';
import { type Conversation, withMessages } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Summarizer } from '../memory/summary-request.ts';
import { createTokenEstimator, type TokenEstimator } from '../tokens/estimator.ts';
import { requestTokens } from '../tokens/measure.ts';
import type { Cut } from './trajectory.ts';

/** One way to make a prefix smaller: a strategy, a peer, a control, the oracle. */
export interface Row {
  readonly name: string;
  /** The messages that would be sent instead of the prefix, at most so many tokens of them if it can be done. */
  compact(cut: Cut, budgetTokens: number): Promise<readonly Message[]>;
  /** The same with the receipt and the reason. Only strategies have these. */
  attempt?(cut: Cut, budgetTokens: number): Promise<Outcome>;
}

/** The same row with the system messages put in front, which it neither sees nor pays for itself. */
export function withInstructions(row: Row): Row {
  const withoutThem = new WeakMap<Cut, Cut>();
  return {
    name: row.name,
    async compact(cut, budgetTokens) {
      const { messages } = cut.prefix;
      const instructions = messages.filter(({ role }) => role === 'system');
      if (instructions.length === 0) return row.compact(cut, budgetTokens);
      const rest = withoutThem.get(cut) ?? {
        ...cut,
        prefix: withMessages(
          cut.prefix,
          messages.filter(({ role }) => role !== 'system'),
        ),
        prefixTokens: cut.prefixTokens - cut.instructionTokens,
        instructionTokens: 0,
      };
      withoutThem.set(cut, rest);
      return [...instructions, ...(await row.compact(rest, budgetTokens - cut.instructionTokens))];
    },
  };
}

/** One message of the user's with this text, in the format of the conversation. */
export function textOutput({ format }: Conversation, text: string): readonly Message[] {
  return format.userMessages([format.textBlock(text === '' ? '(nothing was kept)' : text)]);
}

/** As many of the newest pieces as fit into a budget, in their order, with `between` between them. */
export function joinNewest(
  pieces: readonly string[],
  between: string,
  budgetTokens: number,
  estimator: TokenEstimator,
): string {
  const mostTokens = budgetTokens - estimator.profile.perMessageTokens;
  const text = joinUpTo(pieces, between, mostTokens, estimator);
  // Counted piece by piece, a text may seem smaller than it is.
  const tokens = estimator.countText(text);
  return tokens <= mostTokens
    ? text
    : joinUpTo(pieces, between, (mostTokens * mostTokens) / tokens, estimator);
}

function joinUpTo(
  pieces: readonly string[],
  between: string,
  mostTokens: number,
  estimator: TokenEstimator,
): string {
  let left = mostTokens;
  let start = pieces.length;
  for (; start > 0; start--) {
    left -= estimator.countText(`${between}${pieces[start - 1]}`);
    if (left < 0) break;
  }
  return pieces.slice(start).join(between);
}

export interface StrategyRowOptions {
  /** Default: the strategy's own name. */
  readonly name?: string | undefined;
  /** One for all cuts, or one for each. */
  readonly summarizer: Summarizer | ((cut: Cut) => Summarizer);
  readonly estimator?: TokenEstimator | undefined;
}

/**
 * A strategy as a row, through the same engine as every other run. The budget is for the messages, so instructions and
 * tools come on top of its target.
 */
export function strategyRow(strategy: Strategy, options: StrategyRowOptions): Row {
  const { name = strategy.name, summarizer, estimator = createTokenEstimator() } = options;
  const attempt = async (cut: Cut, budgetTokens: number): Promise<Outcome> => {
    const { prefix, prefixTokens } = cut;
    const tokens = requestTokens(prefix, estimator);
    const engine = createEngine({
      windowTokens: 0,
      strategy,
      summarizer: typeof summarizer === 'function' ? summarizer(cut) : summarizer,
    });
    const turn = { conversation: prefix, tokens, idleSeconds: undefined, signal: undefined };
    const targetTokens = Math.floor(budgetTokens + tokens - prefixTokens);
    const order = { trigger: 'auto', targetTokens } as const;
    return (await runCompaction({ ...engine, estimator }, turn, order)).outcome;
  };
  return {
    name,
    attempt,
    async compact(cut, budgetTokens) {
      const change = changeOf(await attempt(cut, budgetTokens));
      return change === undefined ? cut.prefix.messages : change.conversation.messages;
    },
  };
}
