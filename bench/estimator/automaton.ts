import { classLimit, startClass } from './byte-classes.ts';
import type { Contexts } from './context-tree.ts';
import type { Samples } from './samples.ts';

/** Contexts as states: reading a class leads to the longest known context that ends in it. */
export interface Automaton {
  /** By length, so that a state comes after the shorter contexts it ends in. */
  readonly contexts: readonly string[];
  readonly stateOf: ReadonlyMap<string, number>;
  /** What each state weighs before any refit. */
  readonly means: Float64Array;
  readonly next: Int32Array;
}

/**
 * Adds the contexts without which the next state would not follow from the state alone (every context without
 * its first or without its last class is a state, too), and wires them.
 */
export function buildAutomaton(known: Contexts): Automaton {
  const closed = close(known);
  const contexts = [...closed.keys()].sort(
    (left, right) => left.length - right.length || (left < right ? -1 : 1),
  );
  const stateOf = new Map(contexts.map((context, state) => [context, state]));
  const means = new Float64Array(contexts.length);
  const next = new Int32Array(contexts.length * classLimit);
  contexts.forEach((context, state) => {
    const shorter = stateOf.get(context.slice(1)) ?? 0;
    means[state] = closed.get(context) ?? means[shorter]!;
    for (let symbol = 0; symbol < classLimit; symbol++) {
      const longer = stateOf.get(context + String.fromCharCode(symbol));
      next[state * classLimit + symbol] = longer ?? (state === 0 ? 0 : next[shorter * classLimit + symbol]!);
    }
  });
  return { contexts, stateOf, means, next };
}

function close(known: Contexts): Map<string, number | undefined> {
  const closed = new Map<string, number | undefined>(known);
  const waiting = [...known.keys(), String.fromCharCode(startClass)];
  for (let context = waiting.pop(); context !== undefined; context = waiting.pop()) {
    if (!closed.has(context)) closed.set(context, undefined);
    for (const part of [context.slice(0, -1), context.slice(1)]) {
      if (!closed.has(part)) waiting.push(part);
    }
  }
  return closed;
}

/** How often each text visits each state: the texts of one state lie side by side. */
export interface Visits {
  /** Where each state's entries begin; one entry more than there are states. */
  readonly offsets: Uint32Array;
  readonly sample: Uint32Array;
  readonly count: Float32Array;
}

/** Runs the automaton over every text. */
export function countVisits(automaton: Automaton, samples: Samples): Visits {
  const rows = samples.kinds.map((_, index) => visitsOf(automaton, samples, index));
  const offsets = new Uint32Array(automaton.contexts.length + 1);
  for (const row of rows) for (const state of row.keys()) offsets[state + 1]!++;
  for (let state = 0; state < automaton.contexts.length; state++) offsets[state + 1]! += offsets[state]!;
  const filled = offsets.slice();
  const sample = new Uint32Array(offsets.at(-1)!);
  const count = new Float32Array(offsets.at(-1)!);
  rows.forEach((row, index) => {
    for (const [state, visits] of row) {
      const entry = filled[state]!++;
      sample[entry] = index;
      count[entry] = visits;
    }
  });
  return { offsets, sample, count };
}

function visitsOf(
  { next, stateOf }: Automaton,
  samples: Samples,
  index: number,
): ReadonlyMap<number, number> {
  const visits = new Map<number, number>();
  let state = stateOf.get(String.fromCharCode(startClass)) ?? 0;
  for (let place = samples.offsets[index]! + 1; place < samples.offsets[index + 1]!; place++) {
    state = next[state * classLimit + samples.classes[place]!]!;
    visits.set(state, (visits.get(state) ?? 0) + 1);
  }
  return visits;
}
