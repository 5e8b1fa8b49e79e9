/** Finds what the user took back or replaced later on. */

import type { SayingKind } from './kinds.ts';
import type { Spoken } from './leaning.ts';
import {
  ANNOUNCED,
  CONDITION,
  EVERY_PLAN,
  EVERYTHING,
  FORBIDDING,
  isMereRevision,
  isRevision,
  NAMED,
  OTHERWISE,
  REPLACED,
  RESTORED,
  WITHDRAWN,
} from './revising-words.ts';
import { topicWords } from './words.ts';

/** The kinds of sayings that hold until they are taken back. */
type Binding = 'demand' | 'decision';

/** A saying as far as revisions look at it. */
export interface Revisable {
  readonly turn: number;
  readonly text: string;
  readonly kind: SayingKind;
}

/**
 * Finds what the user took back or replaced.
 * @param turns all turns: what only repeats a choice that the agent offered announces nothing
 * @returns for each saying that holds no more, the index of the newest saying that took its place or took it back
 */
export function findRevoked(
  sayings: readonly Revisable[],
  turns: readonly Spoken[],
): ReadonlyMap<number, number> {
  const reader = new RevisionReader(sayings, turns);
  for (let from = 0; from < sayings.length; ) {
    let to = from + 1;
    while (to < sayings.length && sayings[to]?.turn === sayings[from]?.turn) to++;
    reader.readTurn(from, to);
    from = to;
  }
  return reader.resolved();
}

function capturesOf(way: RegExp, text: string): readonly string[] {
  return (way.exec(text) ?? []).slice(1).filter((capture) => capture !== undefined);
}

/** So far back a plan is looked for that another one replaces without naming it. */
const NEAR = 30;
/** So many sayings that hold a word are looked at, the newest. */
const MOST_CANDIDATES = 60;

class RevisionReader {
  private readonly sayings: readonly Revisable[];
  private readonly turns: readonly Spoken[];
  private readonly revokedBy = new Map<number, number>();
  private readonly words = new Map<number, ReadonlySet<string>>();
  private readonly holders = new Map<string, number[]>();
  /** What holds, the oldest first; what was revoked since may still be among it. */
  private readonly inForce: Record<Binding, number[]> = { demand: [], decision: [] };
  /** What was revoked at once, the newest last. */
  private readonly revocations: { readonly by: number; readonly targets: readonly number[] }[] = [];

  constructor(sayings: readonly Revisable[], turns: readonly Spoken[]) {
    this.sayings = sayings;
    this.turns = turns;
  }

  readTurn(from: number, to: number): void {
    const indices = Array.from({ length: to - from }, (_, offset) => from + offset);
    const binding = indices.filter((index) => this.bindingOf(index) !== undefined);
    const first = binding.find((index) => isRevision(this.textOf(index)) && !this.isOffered(index));
    for (const index of binding) if (first === undefined || index < first) this.enter(index);
    const later = first === undefined ? binding : binding.filter((index) => index >= first);
    const replacement =
      first === undefined ? undefined : later.find((index) => !isMereRevision(this.textOf(index)));
    const withdrawal = later.find((index) => WITHDRAWN.test(this.textOf(index)));
    const revoker = first === undefined ? undefined : (replacement ?? withdrawal);
    const hits = binding.flatMap((index) => this.named(index, revoker ?? index));
    if (revoker !== undefined && hits.length === 0) this.revokeAtOnce(later, revoker);
    if (first === undefined) for (const index of binding) this.replaceNear(index);
    else for (const index of later) this.enter(index);
  }

  private isOffered(index: number): boolean {
    const announced = ANNOUNCED.exec(this.textOf(index))?.[0].trim().toLowerCase();
    const before = this.turns[this.turnOf(index) - 1];
    return announced !== undefined && before?.by === 'agent' && before.text.toLowerCase().includes(announced);
  }

  private enter(index: number): void {
    const words = topicWords(this.textOf(index));
    this.words.set(index, words);
    for (const word of words) {
      const holders = this.holders.get(word);
      if (holders === undefined) this.holders.set(word, [index]);
      else holders.push(index);
    }
    const binding = this.bindingOf(index);
    if (binding !== undefined && !isMereRevision(this.textOf(index))) this.inForce[binding].push(index);
  }

  /** Revokes what a saying names as over, or as replaced. */
  private named(index: number, revoker: number): readonly number[] {
    const text = this.textOf(index);
    const over = NAMED.flatMap((way) => capturesOf(way, text)).flatMap((name) => this.holding(name, index));
    const replaced = capturesOf(REPLACED, text)
      .flatMap((name) => this.holding(name, index))
      .filter((target) => !FORBIDDING.test(this.textOf(target)));
    // The same said again confirms itself.
    const targets = [...over, ...replaced].filter((target) => this.textOf(target) !== text);
    this.revoke(targets, revoker);
    return targets;
  }

  /** What holds and was said in these words: all of few, most of many. */
  private holding(name: string, before: number): readonly number[] {
    const words = [...topicWords(name)];
    const lists = words.map((word) => this.holders.get(word) ?? []);
    const [rarest = []] = lists.toSorted((left, right) => left.length - right.length);
    const needed = words.length <= 2 ? words.length : Math.ceil(words.length * 0.7);
    const found = rarest.slice(-MOST_CANDIDATES).filter((index) => {
      const held = this.words.get(index);
      const shared = words.filter((word) => held?.has(word) === true).length;
      return index < before && !this.revokedBy.has(index) && shared >= needed;
    });
    // One word is little to go by: it means what was said last.
    return words.length === 1 ? found.slice(-1) : found;
  }

  private revokeAtOnce(revisions: readonly number[], revoker: number): void {
    const texts = revisions.map((index) => this.textOf(index)).filter(isRevision);
    const isEverything = texts.some((text) => EVERYTHING.test(text));
    const { demand, decision } = this.inForce;
    if (isEverything || texts.some((text) => EVERY_PLAN.test(text))) {
      this.revoke(decision.splice(0), revoker);
      if (isEverything) this.revoke(demand.splice(0), revoker);
    } else if (texts.some((text) => RESTORED.test(text))) this.restore(revoker);
    else this.revoke(this.nearest(this.turnOf(revoker)), revoker);
  }

  /** What "that" means: the plans of the newest turn that has any, or its demands; in the same turn, the last one. */
  private nearest(turn: number): readonly number[] {
    const demand = this.newestOf('demand');
    const decision = this.newestOf('decision');
    const newest = Math.max(this.turnOf(demand.at(-1) ?? -1), this.turnOf(decision.at(-1) ?? -1));
    const [demands, decisions] = [demand, decision].map((list) =>
      list.filter((index) => this.turnOf(index) === newest),
    );
    const meant = decisions?.length ? decisions : (demands ?? []);
    return newest === turn ? meant.slice(-1) : meant;
  }

  /** What holds of the newest turn with something of the kind. */
  private newestOf(binding: Binding): readonly number[] {
    const list = this.inForce[binding];
    while (list.length > 0 && this.revokedBy.has(list.at(-1) ?? -1)) list.pop();
    const turn = this.turnOf(list.at(-1) ?? -1);
    const start = list.findLastIndex((index) => this.turnOf(index) !== turn) + 1;
    return list.slice(start).filter((index) => !this.revokedBy.has(index));
  }

  private revoke(targets: readonly number[], by: number): void {
    for (const target of targets) this.revokedBy.set(target, by);
    if (targets.length > 0) this.revocations.push({ by, targets });
  }

  /** The newest replacement goes, and what it replaced holds again. */
  private restore(revoker: number): void {
    const revocation = this.revocations.pop();
    if (revocation === undefined) return;
    for (const target of revocation.targets) {
      this.revokedBy.delete(target);
      this.inForce[this.bindingOf(target) ?? 'decision'].push(target);
    }
    this.revokedBy.set(revocation.by, revoker);
  }

  /** A plan that names itself as the other one replaces the nearest that is about the same. */
  private replaceNear(index: number): void {
    const text = this.textOf(index);
    const turn = this.sayings[index]?.turn ?? 0;
    if (!OTHERWISE.test(text) || CONDITION.test(text) || text.endsWith('?')) return;
    const words = this.words.get(index) ?? new Set();
    const near = [...this.inForce.demand.slice(-NEAR), ...this.inForce.decision.slice(-NEAR)]
      .sort((left, right) => left - right)
      .filter((each) => this.turnOf(each) < turn && !this.revokedBy.has(each));
    const newestTurn = this.turnOf(near.at(-1) ?? -1);
    const scored = near
      .filter((each) => !FORBIDDING.test(this.textOf(each)))
      .map((each) => ({ each, shared: [...words].filter((word) => this.words.get(each)?.has(word)).length }))
      .filter(({ each, shared }) => shared >= 2 || (shared === 1 && this.turnOf(each) === newestTurn));
    const best = Math.max(...scored.map(({ shared }) => shared));
    const target = scored.findLast(({ shared }) => shared === best);
    if (target !== undefined) this.revoke([target.each], index);
  }

  private bindingOf(index: number): Binding | undefined {
    const kind = this.sayings[index]?.kind;
    return kind === 'demand' || kind === 'decision' ? kind : undefined;
  }

  private textOf(index: number): string {
    return this.sayings[index]?.text ?? '';
  }

  private turnOf(index: number): number {
    return this.sayings[index]?.turn ?? -1;
  }

  /** Follows each chain of replacements to its end. */
  resolved(): ReadonlyMap<number, number> {
    const resolved = new Map<number, number>();
    for (const index of [...this.revokedBy.keys()].sort((left, right) => right - left)) {
      const by = this.revokedBy.get(index) ?? index;
      resolved.set(index, resolved.get(by) ?? by);
    }
    return resolved;
  }
}
