import { AGAIN, BINDING_WORDS, ENTITY, FLAG, LINE, type LineIndex, type LineStore } from './line-index.ts';

/** What things are worth, and what they cost. */
export interface Worth {
  /** For each entity what it is worth to show it. */
  readonly entity: Float64Array;
  /** To bind an entity with plain words is worth so many times as much as to show it. */
  readonly binding: number;
  /** For each line what it is worth to show it whole, beside what it names. */
  readonly line: Float64Array;
  /** Tokens that the heading of each group takes. */
  readonly heading: Float64Array;
}

/** A part of a line costs its mark beside its text, and sometimes a newline. */
const PART_TOKENS = 1.4;
const MOST_SPOTS = 60;
/** No name takes fewer tokens. */
const SMALLEST_NAME = 0.5;
const SMALLEST_LINE = 0.5;

const HIDDEN = 0;
const SHOWN = 1;
const BOUND = 2;

/**
 * Knows what is shown already, and what each line could add to it. The offer that was found last is read from its fields:
 * there are hundreds of thousands of them. Fields for fractions begin with one that is no whole number, since an engine lays
 * out an object anew when that changes.
 */
export class LineOffers {
  /** The part of the line that is offered. */
  start = 0;
  end = 0;
  /** What it is worth, its heading included if that is not shown yet. */
  gain = Number.NaN;
  /** Tokens it takes, its heading included. */
  cost = Number.NaN;
  /** Tokens of the line alone. */
  lineCost = Number.NaN;
  private readonly titles: LineIndex['titles'];
  private readonly lines: LineStore;
  private readonly worth: Worth;
  private readonly state: Uint8Array;
  private readonly isOpen: Uint8Array;
  /** Tokens that were spent on each line; -1 for one that is not shown. */
  private readonly paid: Float64Array;
  // Of the line that is being looked at: what each spot adds when it is shown, and when it is bound.
  private readonly showing = new Float64Array(MOST_SPOTS);
  private readonly bindings = new Float64Array(MOST_SPOTS);
  private headingGainNow = Number.NaN;
  private shownSum = Number.NaN;
  private boundSum = Number.NaN;
  private wordSum = 0;

  constructor({ titles, lines, groups, entities }: LineIndex, worth: Worth) {
    this.titles = titles;
    this.lines = lines;
    this.worth = worth;
    this.isOpen = new Uint8Array(groups.length);
    this.paid = new Float64Array(lines.texts.length).fill(-1);
    this.state = new Uint8Array(entities.texts.length);
    for (let id = 0; id < this.state.length; id++) {
      const flags = entities.records.get(id, ENTITY.flags);
      if ((flags & FLAG.kept) !== 0) this.state[id] = (flags & FLAG.bound) === 0 ? SHOWN : BOUND;
    }
  }

  /** No way to show a line at this moment is worth more per token than this. Cheaper to find than the best way. */
  mostPerToken(id: number): number {
    const names = this.gainOfLine(id);
    const group = this.lines.records.get(id, LINE.group);
    const headingGain = this.headingGain(group);
    const headingCost = this.headingCost(group);
    const whole = ((this.worth.line[id] ?? 0) + names + headingGain) / (this.wholeCost(id) + headingCost);
    if (!this.hasSpots(id)) return whole;
    return Math.max(whole, (names + headingGain) / (PART_TOKENS + headingCost + SMALLEST_NAME));
  }

  /** Offers the best way to show a line at this moment; a line that was shown in part can only be completed. */
  offerBest(id: number): void {
    this.offerWhole(id);
    if ((this.paid[id] ?? -1) === -1 && this.hasSpots(id)) this.offerPart(id);
  }

  /** Offers all of a line. */
  offerWhole(id: number): void {
    const group = this.lines.records.get(id, LINE.group);
    const own = (this.worth.line[id] ?? 0) + this.gainOfLine(id);
    this.lineCost = this.wholeCost(id);
    this.start = 0;
    this.end = (this.lines.texts[id] ?? '').length;
    this.headingGainNow = this.headingGain(group);
    this.gain = own + this.headingGainNow;
    this.cost = this.lineCost + this.headingCost(group);
  }

  /** Notes that a line is shown in the way that was offered last, with its heading. */
  accept(id: number): void {
    const { start, end, lines } = this;
    this.open(lines.records.get(id, LINE.group));
    this.paid[id] = Math.max(0, this.paid[id] ?? 0) + this.lineCost;
    if (end - start >= lines.contentLength(id)) {
      this.tell(id);
      return;
    }
    const { spots } = lines;
    const spotsEnd = lines.spotsEnd(id);
    let words = 0;
    const entities: number[] = [];
    for (let spot = lines.records.get(id, LINE.spots); spot < spotsEnd; spot += 3) {
      if (spots.get(spot + 1) < start || spots.get(spot + 2) > end) continue;
      const entity = spots.get(spot);
      if (entity === -1) words++;
      else entities.push(entity < 0 ? AGAIN - entity : entity);
    }
    for (const entity of entities) this.show(entity, words >= BINDING_WORDS);
  }

  /** Notes that a line is told elsewhere. */
  tell(id: number): void {
    const { names, records } = this.lines;
    const isBinding = records.get(id, LINE.words) >= BINDING_WORDS;
    const end = this.lines.namesEnd(id);
    for (let index = records.get(id, LINE.names); index < end; index++) {
      this.show(names.get(index), isBinding);
    }
  }

  /** Notes that the heading of a group is shown. */
  open(group: number): void {
    if (this.isOpen[group] === 1) return;
    this.isOpen[group] = 1;
    const title = this.titles[group];
    if (title === undefined) return;
    for (const id of title.entities) this.show(id, title.words >= BINDING_WORDS);
  }

  private hasSpots(id: number): boolean {
    return this.lines.spotsEnd(id) > this.lines.records.get(id, LINE.spots);
  }

  private wholeCost(id: number): number {
    return Math.max(SMALLEST_LINE, (this.lines.costs[id] ?? 0) - Math.max(0, this.paid[id] ?? 0));
  }

  private headingCost(group: number): number {
    return this.isOpen[group] === 1 ? 0 : (this.worth.heading[group] ?? 0);
  }

  private headingGain(group: number): number {
    const title = this.isOpen[group] === 1 ? undefined : this.titles[group];
    if (title === undefined) return 0;
    let gain = 0;
    for (const id of title.entities) gain += this.gainOf(id, title.words >= BINDING_WORDS);
    return gain;
  }

  /**
   * Offers the stretch of a line with the most worth per token, if that is more than the whole line has, which was offered
   * before: names and words
   * leave at both ends while that helps.
   */
  private offerPart(id: number): void {
    const { lines } = this;
    const { spots, records } = lines;
    const from = records.get(id, LINE.spots);
    const count = this.weighSpots(from, Math.min((lines.spotsEnd(id) - from) / 3, MOST_SPOTS));
    if (this.boundSum === 0) return;
    const density = (lines.costs[id] ?? 1) / Math.max(1, lines.contentLength(id));
    const group = records.get(id, LINE.group);
    const headingGain = this.headingGainNow;
    const headingCost = this.headingCost(group);
    let first = 0;
    let last = count - 1;
    let start = spots.get(from + 1);
    let end = spots.get(from + last * 3 + 2);
    let lineCost = PART_TOKENS + density * (end - start);
    let best = (this.gainWithout(from, -1) + headingGain) / (lineCost + headingCost);
    while (first < last) {
      const nextStart = spots.get(from + first * 3 + 4);
      const nextEnd = spots.get(from + last * 3 - 1);
      const costWithoutFirst = PART_TOKENS + density * (end - nextStart);
      const costWithoutLast = PART_TOKENS + density * (nextEnd - start);
      const withoutFirst = (this.gainWithout(from, first) + headingGain) / (costWithoutFirst + headingCost);
      const withoutLast = (this.gainWithout(from, last) + headingGain) / (costWithoutLast + headingCost);
      const isFirst = withoutFirst >= withoutLast;
      const next = isFirst ? withoutFirst : withoutLast;
      if (next < best) break;
      best = next;
      const dropped = isFirst ? first++ : last--;
      if (isFirst) start = nextStart;
      else end = nextEnd;
      lineCost = isFirst ? costWithoutFirst : costWithoutLast;
      this.shownSum -= this.showing[dropped] ?? 0;
      this.boundSum -= this.bindings[dropped] ?? 0;
      if (spots.get(from + dropped * 3) === -1) this.wordSum--;
    }
    const cost = lineCost + headingCost;
    if (best * cost * this.cost <= this.gain * cost) return;
    for (let spot = first; spot <= last; spot++) end = Math.max(end, spots.get(from + spot * 3 + 2));
    this.start = start;
    this.end = end;
    this.gain = best * cost;
    this.cost = cost;
    this.lineCost = lineCost;
  }

  /** What the spots of the present stretch are worth without one of them, or without none for -1. */
  private gainWithout(from: number, spot: number): number {
    const words = this.wordSum - (spot !== -1 && this.lines.spots.get(from + spot * 3) === -1 ? 1 : 0);
    const bound = words >= BINDING_WORDS ? this.boundSum - (this.bindings[spot] ?? 0) : 0;
    return this.shownSum - (this.showing[spot] ?? 0) + bound;
  }

  /** Fills in what each spot of a line adds, and sums it up. */
  private weighSpots(from: number, count: number): number {
    const { spots } = this.lines;
    this.shownSum = 0;
    this.boundSum = 0;
    this.wordSum = 0;
    for (let spot = 0; spot < count; spot++) {
      const entity = spots.get(from + spot * 3);
      if (entity === -1) this.wordSum++;
      const state = entity < 0 ? BOUND : (this.state[entity] ?? HIDDEN);
      const worth = state === BOUND ? 0 : (this.worth.entity[entity] ?? 0);
      const showing = state === HIDDEN ? worth : 0;
      const binding = worth * this.worth.binding;
      this.showing[spot] = showing;
      this.bindings[spot] = binding;
      this.shownSum += showing;
      this.boundSum += binding;
    }
    return count;
  }

  private gainOfLine(id: number): number {
    const { names, records } = this.lines;
    const isBinding = records.get(id, LINE.words) >= BINDING_WORDS;
    const end = this.lines.namesEnd(id);
    let gain = 0;
    for (let index = records.get(id, LINE.names); index < end; index++) {
      gain += this.gainOf(names.get(index), isBinding);
    }
    return gain;
  }

  private gainOf(entity: number, isBinding: boolean): number {
    const state = this.state[entity] ?? HIDDEN;
    if (state === BOUND) return 0;
    const worth = this.worth.entity[entity] ?? 0;
    return (state === HIDDEN ? worth : 0) + (isBinding ? worth * this.worth.binding : 0);
  }

  private show(entity: number, isBinding: boolean): void {
    this.state[entity] = isBinding ? BOUND : Math.max(SHOWN, this.state[entity] ?? HIDDEN);
  }
}
