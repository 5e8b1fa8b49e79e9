import type { Conversation } from '../../conversation/format.ts';
import { openingText } from '../../conversation/summary-message.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import type { Layout } from './layout.ts';

/** What a compaction cannot make smaller. */
export interface Floor {
  readonly tokens: number;
  /** Those of them that the newest rounds have. */
  readonly tailTokens: number;
  /** The part that weighs most, in words for people. */
  readonly heaviest: string;
}

/** The tokens that stay whatever is said of the rest: instructions, tools, what is pinned or quoted, and the tail. */
export function findFloor(
  { frame, messages }: Conversation,
  estimator: TokenEstimator,
  { kept, opening, cut }: Pick<Layout, 'kept' | 'opening' | 'cut'>,
): Floor {
  const sizeOf = (index: number) => {
    const message = messages[index];
    return message === undefined ? 0 : estimator.countMessage(message);
  };
  const quoted = opening.reduce((sum, each) => sum + estimator.countText(openingText(each)), 0);
  let tail = 0;
  for (let index = cut; index < messages.length; index++) tail += sizeOf(index);
  const parts = [
    { name: 'the instructions', tokens: estimator.countSystem(frame) },
    { name: 'the tool definitions', tokens: estimator.countTools(frame) },
    { name: 'the pinned messages', tokens: kept.reduce((sum, index) => sum + sizeOf(index), quoted) },
    { name: 'the newest rounds', tokens: tail },
  ];
  const tokens = parts.reduce((total, part) => total + part.tokens, estimator.profile.perRequestTokens);
  const [heaviest] = parts.toSorted((left, right) => right.tokens - left.tokens);
  return {
    tokens,
    tailTokens: tail,
    heaviest: `${heaviest?.name} (${Math.round(heaviest?.tokens ?? 0)} tokens)`,
  };
}
