import { LINE, type LineIndex } from './line-index.ts';
import { LineOffers, type Worth } from './line-offers.ts';

/** The part of a line that is shown. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** What a digest shows: lines by their ids, in the order in which they were chosen, and groups. */
export interface Selection {
  readonly lines: ReadonlyMap<number, Part>;
  /** Numbers of groups. */
  readonly groups: ReadonlySet<number>;
}

/** The lines of each group. */
export type GroupLines = readonly (readonly number[] | undefined)[];

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
  readonly groups = new Set<number>();
  tokensLeft: number;
  private readonly index: LineIndex;
  private readonly worth: Worth;
  private readonly offers: LineOffers;
  private readonly leftOut = new Set<number>();
  private readonly isDone: Uint8Array;
  private readonly buckets: number[][] = Array.from({ length: BUCKETS }, () => []);
  private best = 0;
  private current = 0;
  private position = 0;

  constructor(index: LineIndex, worth: Worth, budgetTokens: number) {
    this.index = index;
    this.worth = worth;
    this.tokensLeft = budgetTokens;
    this.offers = new LineOffers(index, worth);
    this.isDone = new Uint8Array(index.lines.texts.length);
  }

  /** Shows the heading of a group, if there is room. */
  openGroup(group: number): boolean {
    if (this.groups.has(group)) return true;
    const cost = this.worth.heading[group] ?? 0;
    if (cost > this.tokensLeft) return false;
    this.tokensLeft -= cost;
    this.groups.add(group);
    this.offers.open(group);
    return true;
  }

  /** Leaves out a line that is told elsewhere. */
  leaveOut(id: number): void {
    this.offers.tell(id);
    this.leftOut.add(id);
  }

  /** Shows a whole line with its heading, if there is room for both. */
  take(id: number): boolean {
    if (this.lines.has(id) || this.leftOut.has(id)) return false;
    this.offers.offerWhole(id);
    return this.accept(id);
  }

  /** Spends the budget. */
  fill(linesOf: GroupLines): void {
    const ratios = new Float64Array(this.isDone.length);
    for (let id = 0; id < ratios.length; id++) {
      const ratio = this.isDone[id] === 1 ? 0 : this.offers.mostPerToken(id);
      ratios[id] = ratio;
      if (ratio > this.best) this.best = ratio;
    }
    // The newest lines of a bucket come first.
    for (let id = ratios.length - 1; id >= 0; id--) this.wait(id, ratios[id] ?? 0, 0);
    this.goOn(linesOf);
  }

  /**
   * Goes on where it stopped. It stops at the first line that does not fit, which is worth more than all that come after it
   * and may fit later; unless this is the last time: then smaller ones are taken instead.
   */
  goOn(linesOf: GroupLines, isLast = false): void {
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
  private consider(id: number, current: number, linesOf: GroupLines): boolean {
    if (this.isDone[id] === 1) return true;
    this.offers.offerBest(id);
    const ratio = this.offers.gain / this.offers.cost;
    const bucket = this.bucketOf(ratio);
    if (bucket > current) {
      this.buckets[bucket]?.push(id);
      return true;
    }
    const group = this.index.lines.records.get(id, LINE.group);
    const isNewGroup = !this.groups.has(group);
    if (!this.accept(id)) return false;
    // The other lines of a new group cost no heading from now on; a part may be worth completing.
    if (!isNewGroup) this.waitAgain(id, current);
    else for (const other of linesOf[group] ?? []) this.waitAgain(other, current);
    return true;
  }

  private waitAgain(id: number, current: number): void {
    if (this.isDone[id] !== 1) this.wait(id, this.offers.mostPerToken(id), current);
  }

  /** Shows a line as it was offered last. */
  private accept(id: number): boolean {
    const { offers } = this;
    if (offers.cost > this.tokensLeft) return false;
    const { start, end } = offers;
    this.openGroup(this.index.lines.records.get(id, LINE.group));
    this.tokensLeft -= offers.lineCost;
    offers.accept(id);
    this.lines.set(id, { start, end });
    if (end - start >= this.index.lines.contentLength(id)) this.isDone[id] = 1;
    return true;
  }
}
