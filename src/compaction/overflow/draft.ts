import type { TokenEstimator } from '../../tokens/token-estimator.ts';
import type { Edit } from '../plan/edit.ts';
import { type Shortened, shortenResults, type TextResult } from './shorten-results.ts';
import type { Unit } from './units.ts';

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
