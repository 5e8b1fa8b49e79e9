import { type Automaton, buildAutomaton, countVisits, type Visits } from './automaton.ts';
import { type Samples, shortKind } from './samples.ts';

/** An automaton and what each of its states weighs. */
export interface Model {
  readonly automaton: Automaton;
  readonly weights: Float64Array;
}

/** How weights are chosen. */
export interface WeightOptions {
  /** Pull towards the plain share of token starts: larger trusts single texts less. */
  readonly ridge: number;
  /** The same pull for a state that hardly occurs. */
  readonly ridgeFloor: number;
  readonly sweeps: number;
  /** Upper bound of a weight; the lower one is 0, so that no text can come out negative. */
  readonly weightLimit: number;
}

/** Short texts are noisy one by one, so together they pull a tenth as hard as a kind of long ones. */
const shortShare = 0.1;

/**
 * Takes away the rows that matter least until so many are left, a quarter at a time with a refit in between. A row of
 * the estimator's table is what costs time; it is a context together with the contexts that continue it.
 */
export function reduceRows(
  start: Automaton,
  samples: Samples,
  options: WeightOptions & { readonly rows: number },
): Model {
  let automaton = start;
  for (;;) {
    const visits = scaledVisits(automaton, samples);
    const weights = descend({ automaton, samples, options, visits });
    const rows = countRows(automaton, new Set());
    if (rows <= options.rows) return { automaton, weights };
    const wanted = Math.max(options.rows, Math.floor(rows * 0.75));
    automaton = without(
      automaton,
      leastImportant(automaton, importanceOf(automaton, weights, visits), wanted),
    );
  }
}

interface Problem {
  readonly automaton: Automaton;
  readonly samples: Samples;
  readonly options: WeightOptions;
  readonly visits: Visits;
}

/**
 * Chooses the weights so that whole texts come out right: least squares on the relative error of each text, each kind
 * weighing the same, by coordinate descent within bounds.
 */
function descend({ automaton, samples, options, visits }: Problem): Float64Array {
  const { means } = automaton;
  const bound = (weight: number) => Math.min(options.weightLimit, Math.max(0, weight));
  const weights = means.map(bound);
  const scales = scalesOf(samples);
  const residual = samples.tokens.map((tokens, index) => tokens * scales[index]!);
  const pull = weights.map((weight, state) => {
    let share = 0;
    for (let entry = visits.offsets[state]!; entry < visits.offsets[state + 1]!; entry++) {
      const index = visits.sample[entry]!;
      residual[index]! -= weight * visits.count[entry]!;
      share += visits.count[entry]! * scales[index]! * samples.tokens[index]!;
    }
    return options.ridge * (share + options.ridgeFloor);
  });
  for (let sweep = 0; sweep < options.sweeps; sweep++) {
    for (let state = 0; state < weights.length; state++) {
      const slope = slopeOf(visits, residual, state);
      const step =
        (slope.first - pull[state]! * (weights[state]! - means[state]!)) / (slope.second + pull[state]!);
      const moved = bound(weights[state]! + step);
      applyStep(visits, residual, state, moved - weights[state]!);
      weights[state] = moved;
    }
  }
  return weights;
}

function slopeOf(visits: Visits, residual: Float64Array, state: number): { first: number; second: number } {
  let first = 0;
  let second = 0;
  for (let entry = visits.offsets[state]!; entry < visits.offsets[state + 1]!; entry++) {
    const count = visits.count[entry]!;
    first += count * residual[visits.sample[entry]!]!;
    second += count * count;
  }
  return { first, second };
}

function applyStep(visits: Visits, residual: Float64Array, state: number, change: number): void {
  if (change === 0) return;
  for (let entry = visits.offsets[state]!; entry < visits.offsets[state + 1]!; entry++) {
    residual[visits.sample[entry]!]! -= change * visits.count[entry]!;
  }
}

/** Visits divided so that a residual is a relative error times the square root of the text's share. */
function scaledVisits(automaton: Automaton, samples: Samples): Visits {
  const visits = countVisits(automaton, samples);
  const scales = scalesOf(samples);
  for (let entry = 0; entry < visits.count.length; entry++)
    visits.count[entry]! *= scales[visits.sample[entry]!]!;
  return visits;
}

function scalesOf(samples: Samples): Float64Array {
  const texts = new Map<string, number>();
  for (const kind of samples.kinds) texts.set(kind, (texts.get(kind) ?? 0) + 1);
  return samples.tokens.map((tokens, index) => {
    const kind = samples.kinds[index]!;
    const share = (kind === shortKind ? shortShare : 1) / texts.get(kind)!;
    return Math.sqrt(share) / Math.max(1, tokens);
  });
}

/** What the squared error would grow by, roughly, if a state weighed what the next shorter context weighs. */
function importanceOf({ contexts, stateOf }: Automaton, weights: Float64Array, visits: Visits): Float64Array {
  return weights.map((weight, state) => {
    let square = 0;
    for (let entry = visits.offsets[state]!; entry < visits.offsets[state + 1]!; entry++) {
      square += visits.count[entry]! ** 2;
    }
    return (weight - weights[stateOf.get(contexts[state]!.slice(1)) ?? 0]!) ** 2 * square;
  });
}

/** States that no other needs, those of the least important rows first; taking some frees others, hence the rounds. */
function leastImportant(
  automaton: Automaton,
  importance: Float64Array,
  wantedRows: number,
): ReadonlySet<number> {
  const rowOf = (state: number) => automaton.stateOf.get(automaton.contexts[state]!.slice(0, -1)) ?? 0;
  const rowImportance = new Float64Array(importance.length);
  importance.forEach((value, state) => {
    rowImportance[rowOf(state)]! += value;
  });
  const dropped = new Set<number>();
  while (countRows(automaton, dropped) > wantedRows) {
    const free = freeStates(automaton, dropped);
    if (free.length === 0) break;
    free.sort((left, right) => rowImportance[rowOf(left)]! - rowImportance[rowOf(right)]!);
    for (const state of free.slice(0, Math.ceil(free.length / 12))) dropped.add(state);
  }
  return dropped;
}

function countRows({ contexts }: Automaton, dropped: ReadonlySet<number>): number {
  const continued = contexts.filter((context, state) => context !== '' && !dropped.has(state));
  return new Set(continued.map((context) => context.slice(0, -1))).size;
}

function freeStates({ contexts, stateOf }: Automaton, dropped: ReadonlySet<number>): number[] {
  const needed = new Set<number>();
  contexts.forEach((context, state) => {
    if (context === '' || dropped.has(state)) return;
    needed.add(stateOf.get(context.slice(1))!).add(stateOf.get(context.slice(0, -1))!);
  });
  return contexts.flatMap((context, state) =>
    context.length > 1 && !dropped.has(state) && !needed.has(state) ? [state] : [],
  );
}

function without({ contexts, means }: Automaton, dropped: ReadonlySet<number>): Automaton {
  return buildAutomaton(
    new Map(
      contexts.flatMap((context, state) => (dropped.has(state) ? [] : [[context, means[state]!] as const])),
    ),
  );
}
