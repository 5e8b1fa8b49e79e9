import { legalCuts } from '../../conversation/cuts.ts';
import type { Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/token-estimator.ts';

/** Messages that can only stay or go as a whole: a round, or several that no legal cut parts. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Estimated. */
  readonly tokens: number;
}

/** The units of a list in order, without the system messages at its head. */
export function unitsOf(messages: readonly Message[], estimator: TokenEstimator): readonly Unit[] {
  const cuts = new Set(legalCuts(messages));
  const starts = groupRounds(messages)
    .map(({ start }) => start)
    .filter((start) => cuts.has(start));
  const firstSpoken = messages.findIndex(({ role }) => role !== 'system');
  return starts
    .map((first, index) => {
      const start = index === 0 ? firstSpoken : first;
      const end = starts[index + 1] ?? messages.length;
      return { start, end, tokens: tokensOf(messages.slice(Math.max(0, start), end), estimator) };
    })
    .filter(({ start, end }) => start !== -1 && start < end);
}

function tokensOf(messages: readonly Message[], estimator: TokenEstimator): number {
  return messages.reduce((sum, message) => sum + estimator.countMessage(message), 0);
}

/** What may leave: those that go first, and those that go only when nothing else is left. */
export interface OrderOfLeaving {
  readonly first: readonly Unit[];
  readonly last: readonly Unit[];
}

/** The newest unit and a provider's own summary never leave. Without pins all others are equal. */
export function orderOfLeaving(
  messages: readonly Message[],
  units: readonly Unit[],
  pinned: ReadonlySet<number> | undefined,
): OrderOfLeaving {
  const movable = units.slice(0, -1).filter((unit) => !hasBorder(messages.slice(unit.start, unit.end)));
  if (pinned === undefined) return { first: movable, last: [] };
  const isPreamble = ({ start }: Unit) => messages[start]?.role !== 'assistant';
  const isPinned = ({ start, end }: Unit) => {
    for (let index = start; index < end; index++) if (pinned.has(index)) return true;
    return false;
  };
  const rounds = movable.filter((unit) => !isPreamble(unit));
  return {
    first: rounds.filter((unit) => !isPinned(unit)),
    last: [...rounds.filter(isPinned), ...movable.filter(isPreamble)],
  };
}

function hasBorder(messages: readonly Message[]): boolean {
  return messages.some(({ blocks }) => blocks.some(({ type }) => type === 'compaction'));
}
