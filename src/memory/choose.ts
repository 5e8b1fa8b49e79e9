/** Fills the room of a memory with the pieces that are worth most per token. */

import { type NameWorth, namesIn } from './names.ts';
import type { PartName, Piece } from './offer/piece.ts';
import { CROWDING } from './weights.ts';

/** The units that were chosen of each piece, by their index. */
export type Choice = ReadonlyMap<Piece, ReadonlySet<number>>;

export interface ChooseTerms {
  readonly countText: (text: string) => number;
  readonly names: NameWorth;
  /** The share of the room that files may take at most. */
  readonly filesShare: number;
}

/** What a line break, a list mark and the words around a head cost. */
const AROUND_HEAD = 3;
const AROUND_UNIT = 1;
/** With fewer tokens left than this, the search for something that fits ends. */
const SMALLEST_REST = 12;
const SHORTEST_REPEAT = 25;

interface Candidate {
  readonly piece: Piece;
  readonly unit: number;
  readonly cost: number;
  readonly head: number;
  /** Names that it shows, and what each is worth as long as nothing else has shown it. */
  readonly names: readonly (readonly [name: string, worth: number])[];
  /** Worth of each token, as far as known. */
  worth: number;
}

/**
 * Takes the units whose tokens are worth most, as long as there is room. A unit brings along what it needs and the head of
 * its piece. A name counts only the first time: what is told already is no reason to tell it again.
 */
export class Chooser {
  private readonly chosen = new Map<Piece, Set<number>>();
  private readonly costs = new Map<Piece, readonly number[]>();
  private readonly heap: Heap;
  private readonly passed: Candidate[] = [];
  private readonly told: Set<string>;
  /** Longer units stand there once. */
  private readonly toldTexts = new Set<string>();
  private readonly taken: Candidate[] = [];
  private left = 0;
  /** All that was given so far, and what each part has taken of it. */
  private room = 0;
  private readonly spent = new Map<PartName, number>();

  private filesShare: number;

  constructor(pieces: readonly Piece[], { countText, names, filesShare }: ChooseTerms) {
    this.filesShare = filesShare;
    this.told = new Set(names.known);
    const candidates: Candidate[] = [];
    for (const piece of pieces) {
      const costs = piece.units.map(({ text }) => countText(text) + AROUND_UNIT);
      this.costs.set(piece, costs);
      const head = piece.head === '' ? AROUND_HEAD : countText(piece.head) + AROUND_HEAD;
      for (const [unit, { text, names: found = namesIn(text) }] of piece.units.entries()) {
        const cost = costs[unit] ?? 0;
        const worths = Array.from(
          found,
          (name) => [name, names.of(name, piece.place, piece.part === 'files')] as const,
        );
        const candidate: Candidate = { piece, unit, cost, head, names: worths, worth: 0 };
        candidate.worth = this.worthOf(candidate);
        candidates.push(candidate);
      }
    }
    this.heap = new Heap(candidates);
  }

  get choice(): Choice {
    return this.chosen;
  }

  /** Goes on with what comes next, for so many tokens more. */
  add(tokens: number): void {
    this.left = tokens;
    this.room += tokens;
    this.fillWithPassed();
    // Room that nothing else wants is no room saved: then files may have more than their share.
    if (this.left < SMALLEST_REST) return;
    this.filesShare = 1;
    this.fillWithPassed();
  }

  private fillWithPassed(): void {
    for (const candidate of this.passed.splice(0)) this.heap.push(candidate);
    this.fill();
  }

  /** Gives back what was taken last, about so many tokens of it. */
  drop(tokens: number): void {
    let freed = 0;
    for (let last = this.taken.pop(); last !== undefined; last = this.taken.pop()) {
      const { piece, unit } = last;
      const units = this.chosen.get(piece);
      // What was taken only for the sake of something that is gone goes too.
      if (freed >= tokens && piece.units[unit]?.worth !== 0) {
        this.taken.push(last);
        return;
      }
      if ([...(units ?? [])].some((each) => piece.units[each]?.needs === unit)) continue;
      units?.delete(last.unit);
      freed += last.cost;
      if (units?.size !== 0) continue;
      this.chosen.delete(last.piece);
      freed += last.head;
    }
  }

  private fill(): void {
    while (this.left >= SMALLEST_REST) {
      const best = this.heap.pop();
      if (best === undefined) return;
      const worth = this.worthOf(best);
      if (worth < best.worth * 0.999) {
        best.worth = worth;
        this.heap.push(best);
      } else this.take(best);
    }
  }

  /** Its own worth and that of the names that nothing has told yet, for each token that it costs. */
  private worthOf({ piece, unit, cost, head, names }: Candidate): number {
    const { worth, needs } = piece.units[unit] ?? { worth: 0 };
    const units = this.chosen.get(piece);
    let sum = this.crowdedWorth(piece.part, worth) * cost;
    for (const [name, value] of names) if (!this.told.has(name)) sum += value;
    // The head and what is needed are shared by all units that come along: half of them is this one's.
    const shared =
      (units === undefined ? head : 0) +
      (needs === undefined || units?.has(needs) === true ? 0 : (this.costs.get(piece)?.[needs] ?? 0));
    return sum / (cost + shared / 2);
  }

  /** What is left of its worth where its part has taken its share of the room already. */
  private crowdedWorth(part: PartName, worth: number): number {
    const isCrowded = (this.spent.get(part) ?? 0) > CROWDING.share[part] * this.room;
    return isCrowded && worth < CROWDING.exempt ? worth * CROWDING.above : worth;
  }

  private take(candidate: Candidate): void {
    const { piece, unit, head } = candidate;
    const units = this.chosen.get(piece) ?? new Set<number>();
    const text = piece.units[unit]?.text.trim() ?? '';
    const { within } = piece.units[unit] ?? {};
    if (units.has(unit) || this.toldTexts.has(text) || (within !== undefined && units.has(within))) return;
    const wanted = withNeeds(piece, unit, units);
    const costs = this.costs.get(piece) ?? [];
    const cost = wanted.reduce((sum, each) => sum + (costs[each] ?? 0), units.size === 0 ? head : 0);
    const spent = (this.spent.get(piece.part) ?? 0) + cost;
    if (cost > this.left || (piece.part === 'files' && spent > this.filesShare * this.room)) {
      this.passed.push(candidate);
      return;
    }
    if (text.length >= SHORTEST_REPEAT) this.toldTexts.add(text);
    this.left -= cost;
    this.spent.set(piece.part, spent);
    for (const each of wanted.toReversed()) {
      units.add(each);
      this.taken.push({ ...candidate, unit: each, cost: costs[each] ?? 0 });
    }
    for (const [name] of candidate.names) this.told.add(name);
    this.chosen.set(piece, units);
  }
}

function withNeeds(piece: Piece, unit: number, known: ReadonlySet<number>): readonly number[] {
  const wanted: number[] = [];
  for (
    let each: number | undefined = unit;
    each !== undefined && !known.has(each);
    each = piece.units[each]?.needs
  ) {
    if (wanted.includes(each)) break;
    wanted.push(each);
  }
  return wanted;
}

/** The candidates with the dearest first. */
class Heap {
  private readonly items: Candidate[];

  constructor(items: readonly Candidate[]) {
    this.items = items.toSorted((one, other) => other.worth - one.worth);
  }

  push(item: Candidate): void {
    const { items } = this;
    items.push(item);
    for (let index = items.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (this.worthAt(parent) >= this.worthAt(index)) return;
      this.swap(parent, index);
      index = parent;
    }
  }

  pop(): Candidate | undefined {
    const { items } = this;
    const best = items[0];
    const last = items.pop();
    if (last === undefined || best === undefined || items.length === 0) return best;
    items[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const right = left + 1;
      let dearest = index;
      if (left < items.length && this.worthAt(left) > this.worthAt(dearest)) dearest = left;
      if (right < items.length && this.worthAt(right) > this.worthAt(dearest)) dearest = right;
      if (dearest === index) return best;
      this.swap(dearest, index);
      index = dearest;
    }
  }

  private worthAt(index: number): number {
    return this.items[index]?.worth ?? Number.NEGATIVE_INFINITY;
  }

  private swap(one: number, other: number): void {
    const { items } = this;
    const item = items[one];
    const second = items[other];
    if (item === undefined || second === undefined) return;
    items[one] = second;
    items[other] = item;
  }
}
