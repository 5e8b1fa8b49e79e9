import type { NamedRound } from './describe-rounds.ts';

interface RetriedAccount {
  readonly gapTokens: number | undefined;
  readonly largestRound: NamedRound | undefined;
  readonly droppedRounds: readonly NamedRound[];
  readonly shortenedRounds: readonly NamedRound[];
  readonly isCurrentTurnShortened: boolean;
}

/** One line for a log: what was too much, what is left out, and the names of the rounds. */
export function describeRetry(attempt: number, truncated: RetriedAccount): string {
  const { gapTokens, largestRound, droppedRounds, shortenedRounds, isCurrentTurnShortened } = truncated;
  const parts = [
    gapTokens === undefined ? 'too long' : `too long by ${countText(gapTokens)} tokens`,
    largestRound === undefined ? '' : `the largest was ${largestRound.name}`,
    droppedRounds.length === 0 ? '' : `dropped ${listed(droppedRounds)}`,
    shortenedRounds.length === 0 ? '' : `shortened ${listed(shortenedRounds)}`,
    isCurrentTurnShortened ? 'the current turn is not whole' : '',
  ];
  return `retry ${attempt}: ${parts.filter((part) => part !== '').join('; ')}`;
}

/** A line in a log names so many rounds; all of them are in the retry itself. */
const LISTED_ROUNDS = 5;

function listed(rounds: readonly NamedRound[]): string {
  const names = rounds.slice(0, LISTED_ROUNDS).map(({ name }) => name);
  const more = rounds.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** `12,345` */
export function countText(tokens: number): string {
  return Math.round(tokens).toLocaleString('en-US');
}
