import type { Conversation } from './format.ts';
import type { Span } from './pins.ts';
import type { TokenEstimator } from './token-estimator.ts';

/** What a compaction cannot make smaller. */
export interface Floor {
  readonly tokens: number;
  /** The part that weighs most, in words for people. */
  readonly heaviest: string;
}

/** The tokens that stay whatever happens to the rest: instructions, tools, what is pinned, and the newest rounds. */
export function findFloor(
  { frame, messages }: Conversation,
  estimator: TokenEstimator,
  { spans, cut }: { readonly spans: readonly Span[]; readonly cut: number },
): Floor {
  const sum = (kept: readonly Span[]) =>
    kept.reduce((total, { start, end }) => {
      for (let index = start; index < end; index++) {
        const message = messages[index];
        if (message !== undefined) total += estimator.countMessage(message);
      }
      return total;
    }, 0);
  const parts = [
    { name: 'the instructions', tokens: estimator.countSystem(frame) },
    { name: 'the tool definitions', tokens: estimator.countTools(frame) },
    { name: 'the pinned messages', tokens: sum(spans.filter(({ isPinned, end }) => isPinned && end <= cut)) },
    { name: 'the newest rounds', tokens: sum(spans.filter(({ end }) => end > cut)) },
  ];
  const tokens = parts.reduce((total, part) => total + part.tokens, estimator.profile.perRequestTokens);
  const [heaviest] = parts.toSorted((left, right) => right.tokens - left.tokens);
  return { tokens, heaviest: `${heaviest?.name} (${Math.round(heaviest?.tokens ?? 0)} tokens)` };
}
