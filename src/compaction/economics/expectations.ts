/**
 * How many more turns a conversation is expected to have: as many as it has had, at least one. What is known of such
 * lengths (most are short, a few are very long) fits no better guess: among conversations that got to n turns, about
 * half get to 2n.
 */
export function expectedRemainingTurns(turnsSoFar: number): number {
  return Math.max(1, turnsSoFar);
}

/**
 * Tokens that a turn adds to the prompt, as the mean over the conversation so far. Takes the prompt sizes of its
 * requests, oldest first; a prompt that got smaller (a compaction) adds nothing. 0 when there is no turn to measure.
 */
export function growthPerTurn(promptSizes: readonly number[]): number {
  if (promptSizes.length < 2) return 0;
  const grown = promptSizes
    .slice(1)
    .reduce((sum, size, index) => sum + Math.max(0, size - (promptSizes[index] ?? size)), 0);
  return grown / (promptSizes.length - 1);
}
