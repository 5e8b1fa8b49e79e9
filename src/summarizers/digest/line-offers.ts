import type { Line, LineIndex } from './line-index.ts';
import type { Group } from './sources.ts';

/** What things are worth, and what they cost. */
export interface Worth {
  /** For each entity what it is worth to show it. */
  readonly entity: Float64Array;
  /** To bind an entity with plain words is worth so many times as much as to show it. */
  readonly binding: number;
  /** For each line what it is worth to show it whole, beside what it names. */
  readonly line: Float64Array;
  /** Tokens that showing each line takes. */
  readonly cost: Float64Array;
  /** Tokens that the heading of a group takes. */
  headingCost(group: Group): number;
}

/** A way to show a line: all of it, or a part. */
export interface Offer {
  readonly start: number;
  readonly end: number;
  /** What it is worth, its heading included if that is not shown yet. */
  readonly gain: number;
  /** Tokens it takes, its heading included. */
  readonly cost: number;
  /** Tokens of the line alone. */
  readonly lineCost: number;
}

const BINDING_WORDS = 2;
/** A part of a line costs its mark beside its text, and sometimes a newline. */
const PART_TOKENS = 1.4;
const MOST_SPOTS = 60;
/** No name takes fewer tokens. */
const SMALLEST_NAME = 0.5;

const HIDDEN = 0;
const SHOWN = 1;
const BOUND = 2;

/** Knows what is shown already, and what each line could add to it. */
export class LineOffers {
  private readonly index: LineIndex;
  private readonly worth: Worth;
  private readonly state: Uint8Array;
  private readonly openGroups = new Set<Group>();
  private readonly paid = new Map<number, number>();
  // Of the line that is being looked at: what each spot adds when it is shown, and when it is bound.
  private readonly showing = new Float64Array(MOST_SPOTS);
  private readonly bindings = new Float64Array(MOST_SPOTS);

  constructor(index: LineIndex, worth: Worth) {
    this.index = index;
    this.worth = worth;
    this.state = new Uint8Array(index.entities.length);
    for (const [id, { isKept }] of index.entities.entries()) if (isKept) this.state[id] = BOUND;
  }

  /** No way to show a line at this moment is worth more per token than this. Cheaper to find than the best way. */
  mostPerToken(id: number, line: Line): number {
    const names = this.gainOf(line.entities, line.words >= BINDING_WORDS);
    const headingGain = this.headingGain(line.group);
    const headingCost = this.headingCost(line.group);
    const lineCost = Math.max(0.5, (this.worth.cost[id] ?? 0) - (this.paid.get(id) ?? 0));
    const whole = ((this.worth.line[id] ?? 0) + names + headingGain) / (lineCost + headingCost);
    if (line.spots.length === 0) return whole;
    return Math.max(whole, (names + headingGain) / (PART_TOKENS + headingCost + SMALLEST_NAME));
  }

  /** The best way to show a line at this moment; a line that was shown in part can only be completed. */
  best(id: number, line: Line): Offer {
    const whole = this.whole(id, line);
    if (this.paid.has(id) || line.spots.length === 0) return whole;
    const part = this.part(id, line);
    return part !== undefined && part.gain * whole.cost > whole.gain * part.cost ? part : whole;
  }

  /** All of a line. */
  whole(id: number, line: Line): Offer {
    const lineCost = Math.max(0.5, (this.worth.cost[id] ?? 0) - (this.paid.get(id) ?? 0));
    const own = (this.worth.line[id] ?? 0) + this.gainOf(line.entities, line.words >= BINDING_WORDS);
    return {
      start: 0,
      end: line.text.length,
      gain: own + this.headingGain(line.group),
      cost: lineCost + this.headingCost(line.group),
      lineCost,
    };
  }

  /** Notes that a line is shown in this way, with its heading. */
  accept(id: number, line: Line, { start, end, lineCost }: Offer): void {
    this.open(line.group);
    this.paid.set(id, (this.paid.get(id) ?? 0) + lineCost);
    if (end - start >= line.text.length - line.indent) {
      this.tell(line);
      return;
    }
    const { spots } = line;
    let words = 0;
    const entities: number[] = [];
    for (let spot = 0; spot < spots.length; spot += 3) {
      if ((spots[spot + 1] ?? 0) < start || (spots[spot + 2] ?? 0) > end) continue;
      const entity = spots[spot] ?? -1;
      if (entity === -1) words++;
      else entities.push(entity);
    }
    this.show(entities, words >= BINDING_WORDS);
  }

  /** Notes that a line is told elsewhere. */
  tell(line: Line): void {
    this.show(line.entities, line.words >= BINDING_WORDS);
  }

  /** Notes that the heading of a group is shown. */
  open(group: Group): void {
    if (this.openGroups.has(group)) return;
    this.openGroups.add(group);
    const title = this.index.titles.get(group);
    if (title !== undefined) this.show(title.entities, title.words >= BINDING_WORDS);
  }

  private headingCost(group: Group): number {
    return this.openGroups.has(group) ? 0 : this.worth.headingCost(group);
  }

  private headingGain(group: Group): number {
    const title = this.openGroups.has(group) ? undefined : this.index.titles.get(group);
    return title === undefined ? 0 : this.gainOf(title.entities, title.words >= BINDING_WORDS);
  }

  /** The stretch of a line with the most worth per token: names and words leave at both ends while that helps. */
  private part(id: number, line: Line): Offer | undefined {
    const { spots } = line;
    const sums = this.weighSpots(spots);
    if (sums.bound === 0) return undefined;
    const density = (this.worth.cost[id] ?? 1) / Math.max(1, line.text.length - line.indent);
    const headingGain = this.headingGain(line.group);
    const headingCost = this.headingCost(line.group);
    const costOf = (first: number, last: number) =>
      PART_TOKENS + density * ((spots[last * 3 + 2] ?? 0) - (spots[first * 3 + 1] ?? 0));
    const rate = (first: number, last: number, without: number) => {
      const words = sums.words - (spots[without * 3] === -1 ? 1 : 0);
      const bound = words >= BINDING_WORDS ? sums.bound - (this.bindings[without] ?? 0) : 0;
      const gain = sums.shown - (this.showing[without] ?? 0) + bound;
      return (gain + headingGain) / (costOf(first, last) + headingCost);
    };
    let first = 0;
    let last = sums.count - 1;
    let best = rate(first, last, -1);
    while (first < last) {
      const withoutFirst = rate(first + 1, last, first);
      const withoutLast = rate(first, last - 1, last);
      if (Math.max(withoutFirst, withoutLast) < best) break;
      best = Math.max(withoutFirst, withoutLast);
      const dropped = withoutFirst >= withoutLast ? first++ : last--;
      sums.shown -= this.showing[dropped] ?? 0;
      sums.bound -= this.bindings[dropped] ?? 0;
      if (spots[dropped * 3] === -1) sums.words--;
    }
    let end = 0;
    for (let spot = first; spot <= last; spot++) end = Math.max(end, spots[spot * 3 + 2] ?? 0);
    const lineCost = costOf(first, last);
    const cost = lineCost + headingCost;
    return { start: spots[first * 3 + 1] ?? 0, end, gain: best * cost, cost, lineCost };
  }

  /** Fills in what each spot of a line adds, and sums it up. */
  private weighSpots(spots: readonly number[]): {
    count: number;
    words: number;
    shown: number;
    bound: number;
  } {
    const count = Math.min(spots.length / 3, MOST_SPOTS);
    const sums = { count, words: 0, shown: 0, bound: 0 };
    for (let spot = 0; spot < count; spot++) {
      const entity = spots[spot * 3] ?? -1;
      if (entity === -1) sums.words++;
      const state = entity === -1 || isRepeated(spots, spot) ? BOUND : (this.state[entity] ?? HIDDEN);
      const worth = state === BOUND ? 0 : (this.worth.entity[entity] ?? 0);
      const showing = state === HIDDEN ? worth : 0;
      this.showing[spot] = showing;
      this.bindings[spot] = worth * this.worth.binding;
      sums.shown += showing;
      sums.bound += worth * this.worth.binding;
    }
    return sums;
  }

  private gainOf(entities: readonly number[], isBinding: boolean): number {
    let gain = 0;
    for (const id of entities) {
      const state = this.state[id] ?? HIDDEN;
      if (state === BOUND) continue;
      const worth = this.worth.entity[id] ?? 0;
      if (state === HIDDEN) gain += worth;
      if (isBinding) gain += worth * this.worth.binding;
    }
    return gain;
  }

  private show(entities: readonly number[], isBinding: boolean): void {
    for (const id of entities) {
      this.state[id] = isBinding ? BOUND : Math.max(SHOWN, this.state[id] ?? HIDDEN);
    }
  }
}

/** Whether a spot names what an earlier one of its line names. */
function isRepeated(spots: readonly number[], spot: number): boolean {
  for (let before = 0; before < spot; before++) if (spots[before * 3] === spots[spot * 3]) return true;
  return false;
}
