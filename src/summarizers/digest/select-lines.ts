import type { LineIndex } from './line-index.ts';
import { LineOffers, type Offer, type Worth } from './line-offers.ts';
import type { Group } from './sources.ts';

/** The part of a line that is shown. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** What a digest shows: lines by their ids, in the order in which they were chosen, and groups. */
export interface Selection {
  readonly lines: ReadonlyMap<number, Part>;
  readonly groups: ReadonlySet<Group>;
}

const BUCKETS = 160;
/** Ratio between the worth per token of one bucket and the next. */
const STEP = 0.93;
const LOG_STEP = Math.log(STEP);
/** No line takes fewer tokens. */
const SMALLEST_LINE = 2;

/**
 * Chooses lines, or parts of lines, by their worth per token until the budget is spent. What is shown already adds nothing
 * the second time, so the worth of a line is found again when its turn comes, and the line waits if it has fallen. Lines
 * wait in buckets of about equal worth, which keeps the time linear.
 */
export class LineSelector implements Selection {
  readonly lines = new Map<number, Part>();
  readonly groups = new Set<Group>();
  tokensLeft: number;
  private readonly index: LineIndex;
  private readonly worth: Worth;
  private readonly offers: LineOffers;
  private readonly leftOut = new Set<number>();
  private readonly buckets: number[][] = Array.from({ length: BUCKETS }, () => []);
  private best = 0;
  private current = 0;
  private position = 0;

  constructor(index: LineIndex, worth: Worth, budgetTokens: number) {
    this.index = index;
    this.worth = worth;
    this.tokensLeft = budgetTokens;
    this.offers = new LineOffers(index, worth);
  }

  /** Shows the heading of a group, if there is room. */
  openGroup(group: Group): boolean {
    if (this.groups.has(group)) return true;
    const cost = this.worth.headingCost(group);
    if (cost > this.tokensLeft) return false;
    this.tokensLeft -= cost;
    this.groups.add(group);
    this.offers.open(group);
    return true;
  }

  /** Leaves out a line that is told elsewhere. */
  leaveOut(id: number): void {
    const line = this.index.lines[id];
    if (line !== undefined) this.offers.tell(line);
    this.leftOut.add(id);
  }

  /** Shows a whole line with its heading, if there is room for both. */
  take(id: number): boolean {
    const line = this.index.lines[id];
    if (line === undefined || this.lines.has(id) || this.leftOut.has(id)) return false;
    return this.accept(id, this.offers.whole(id, line));
  }

  /** Spends the budget. */
  fill(linesOf: ReadonlyMap<Group, readonly number[]>): void {
    const { lines } = this.index;
    const ratios = new Float64Array(lines.length);
    for (const [id, line] of lines.entries()) {
      ratios[id] = this.isDone(id) ? 0 : this.offers.mostPerToken(id, line);
      this.best = Math.max(this.best, ratios[id] ?? 0);
    }
    // The newest lines of a bucket come first.
    for (let id = lines.length - 1; id >= 0; id--) this.wait(id, ratios[id] ?? 0, 0);
    this.goOn(linesOf);
  }

  /**
   * Goes on where it stopped. It stops at the first line that does not fit, which is worth more than all that come after it
   * and may fit later; unless this is the last time: then smaller ones are taken instead.
   */
  goOn(linesOf: ReadonlyMap<Group, readonly number[]>, isLast = false): void {
    for (; this.current < BUCKETS; this.current++) {
      const bucket = this.buckets[this.current] ?? [];
      // Lines are added to the bucket while it is walked.
      for (; this.position < bucket.length; this.position++) {
        if (this.tokensLeft <= SMALLEST_LINE) return;
        const isSettled = this.consider(bucket[this.position] ?? 0, this.current, linesOf);
        if (!isSettled && !isLast) return;
      }
      this.position = 0;
    }
  }

  /** Puts a line into the bucket of its worth, or into the present one if that has gone by. */
  private wait(id: number, ratio: number, current: number): void {
    this.buckets[Math.max(current, this.bucketOf(ratio))]?.push(id);
  }

  private bucketOf(ratio: number): number {
    return ratio <= 0 ? BUCKETS : Math.floor(Math.log(ratio / this.best) / LOG_STEP);
  }

  /** Takes a line whose turn it is, or lets it wait. False when it does not fit. */
  private consider(id: number, current: number, linesOf: ReadonlyMap<Group, readonly number[]>): boolean {
    const line = this.index.lines[id];
    if (line === undefined || this.isDone(id)) return true;
    const offer = this.offers.best(id, line);
    const ratio = offer.gain / offer.cost;
    if (this.bucketOf(ratio) > current) {
      this.wait(id, ratio, current);
      return true;
    }
    const isNewGroup = !this.groups.has(line.group);
    if (!this.accept(id, offer)) return false;
    // The other lines of a new group cost no heading from now on; a part may be worth completing.
    for (const other of isNewGroup ? (linesOf.get(line.group) ?? []) : [id]) {
      const next = this.index.lines[other];
      if (next === undefined || this.isDone(other)) continue;
      this.wait(other, this.offers.mostPerToken(other, next), current);
    }
    return true;
  }

  private isDone(id: number): boolean {
    const part = this.lines.get(id);
    const line = this.index.lines[id];
    return (
      part !== undefined && line !== undefined && part.end - part.start >= line.text.length - line.indent
    );
  }

  private accept(id: number, offer: Offer): boolean {
    const line = this.index.lines[id];
    if (line === undefined || offer.cost > this.tokensLeft) return false;
    this.openGroup(line.group);
    this.tokensLeft -= offer.lineCost;
    this.offers.accept(id, line, offer);
    this.lines.set(id, { start: offer.start, end: offer.end });
    return true;
  }
}
