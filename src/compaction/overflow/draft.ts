import { legalCuts } from '../../conversation/legality.ts';
import type { Message } from '../../conversation/message.ts';
import { groupRounds } from '../../conversation/rounds.ts';
import type { TokenEstimator } from '../../tokens/estimator.ts';
import type { Edit } from '../plan/plan.ts';
import { type Shortened, shortenResults, type TextResult } from './shortening.ts';

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

/** What leaves a request, as far as it is decided: units that go, and results that get shorter. */
export class Draft {
  private readonly estimator: TokenEstimator;
  private readonly units = new Set<Unit>();
  private shortened: readonly Shortened[] = [];
  private freed = 0;

  constructor(estimator: TokenEstimator) {
    this.estimator = estimator;
  }

  /** Estimated tokens that are saved so far. */
  get freedTokens(): number {
    return this.freed;
  }

  get droppedUnits(): ReadonlySet<Unit> {
    return this.units;
  }

  get rewrites(): readonly Extract<Edit, { type: 'rewrite' }>[] {
    return this.shortened.map(({ rewrite }) => rewrite);
  }

  get isEmpty(): boolean {
    return this.units.size + this.shortened.length === 0;
  }

  /** What was shortened in a unit that leaves after all does not count. */
  drop(unit: Unit): void {
    if (this.units.has(unit)) return;
    const isInside = ({ rewrite }: Shortened) => rewrite.message >= unit.start && rewrite.message < unit.end;
    this.units.add(unit);
    this.freed += unit.tokens - savedBy(this.shortened.filter(isInside));
    this.shortened = this.shortened.filter((one) => !isInside(one));
  }

  dropUntil(candidates: readonly Unit[], isEnough: () => boolean): void {
    for (const unit of candidates) {
      if (isEnough()) return;
      this.drop(unit);
    }
  }

  /** What shortening these results would save; of those that are shorter already, what is left gets shorter still. */
  preview(results: readonly TextResult[], missingTokens: number): readonly Shortened[] {
    const done = new Map(this.rewrites.map((rewrite) => [placeOf(rewrite), rewrite.text]));
    const left = results.map((result) => {
      const text = done.get(placeOf(result));
      return text === undefined ? result : { ...result, text, tokens: this.estimator.countText(text) };
    });
    return shortenResults(left, missingTokens, this.estimator);
  }

  shorten(results: readonly TextResult[], missingTokens: number): void {
    this.take(this.preview(results, missingTokens));
  }

  take(shortened: readonly Shortened[]): void {
    const known = new Map(this.shortened.map((one) => [placeOf(one.rewrite), one]));
    for (const { rewrite, savedTokens } of shortened) {
      const before = known.get(placeOf(rewrite))?.savedTokens ?? 0;
      known.set(placeOf(rewrite), { rewrite, savedTokens: before + savedTokens });
    }
    this.shortened = [...known.values()];
    this.freed += savedBy(shortened);
  }
}

function placeOf({ message, block }: { readonly message: number; readonly block: number }): string {
  return `${message}.${block}`;
}

/** Tokens that shortening saves. */
export function savedBy(shortened: readonly Shortened[]): number {
  return shortened.reduce((sum, { savedTokens }) => sum + savedTokens, 0);
}
