import { createRandom } from '../../src/lab/seeded.ts';
import type { BinModel } from '../../src/summarizers/digest/bins.ts';

/** Items of one cut: the weights that each takes, and whether the future needed it. */
export interface Examples {
  readonly features: number;
  readonly indices: Uint16Array;
  readonly labels: Uint8Array;
  /** How much each counts. */
  readonly weights: Float64Array;
}

export interface TrainOptions {
  /** How many weights the model has. */
  readonly size: number;
  /** How strongly weights are drawn to zero. */
  readonly decay: number;
}

const PASSES = 8;
const RATE = 0.25;
const RATE_DECAY = 0.4;
const FIRST_BIAS = -3;

/** Logistic regression on bins, by stochastic descent with a rate of its own for each weight. The same input gives the same model. */
export function train(sets: readonly Examples[], { size, decay }: TrainOptions): BinModel {
  const weights = new Float64Array(size);
  const squares = new Float64Array(size).fill(1e-6);
  let bias = FIRST_BIAS;
  let biasSquare = 1e-6;
  const order = shuffler(sets);
  for (let pass = 0; pass < PASSES; pass++) {
    const rate = RATE / (1 + pass * RATE_DECAY);
    for (const [set, item] of order()) {
      const { features, indices, labels, weights: counts } = set;
      const first = item * features;
      let sum = bias;
      for (let feature = 0; feature < features; feature++) sum += weights[indices[first + feature] ?? 0] ?? 0;
      const count = counts[item] ?? 0;
      const slope = (1 / (1 + Math.exp(-sum)) - (labels[item] ?? 0)) * count;
      biasSquare += slope * slope;
      bias -= (rate * slope) / Math.sqrt(biasSquare);
      for (let feature = 0; feature < features; feature++) {
        const index = indices[first + feature] ?? 0;
        const own = slope + decay * count * (weights[index] ?? 0);
        squares[index] = (squares[index] ?? 0) + own * own;
        weights[index] = (weights[index] ?? 0) - (rate * own) / Math.sqrt(squares[index] ?? 1);
      }
    }
  }
  return { bias, weights };
}

/** Gives all examples in another order each time. */
function shuffler(sets: readonly Examples[]): () => Iterable<readonly [Examples, number]> {
  const starts: number[] = [];
  let total = 0;
  for (const { labels } of sets) {
    starts.push(total);
    total += labels.length;
  }
  const setOf = new Uint32Array(total);
  for (const [number, start] of starts.entries()) setOf.fill(number, start, starts[number + 1] ?? total);
  const order = Uint32Array.from({ length: total }, (_, item) => item);
  const random = createRandom('digest');
  return function* () {
    for (let last = total - 1; last > 0; last--) {
      const other = Math.floor(random() * (last + 1));
      [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
    }
    for (const item of order) {
      const number = setOf[item] ?? 0;
      const set = sets[number];
      if (set !== undefined) yield [set, item - (starts[number] ?? 0)];
    }
  };
}

/** The chance that a needed item ranks above one that is not, as a mean over cuts. */
export function rankingQuality(sets: readonly Examples[], { bias, weights }: BinModel): number {
  const found: number[] = [];
  for (const { features, indices, labels } of sets) {
    const scored = [...labels.keys()].map((item) => {
      let sum = bias;
      for (let feature = 0; feature < features; feature++)
        sum += weights[indices[item * features + feature] ?? 0] ?? 0;
      return { sum, isNeeded: labels[item] === 1 };
    });
    scored.sort((left, right) => left.sum - right.sum);
    let others = 0;
    let pairs = 0;
    for (const { isNeeded } of scored) {
      if (isNeeded) pairs += others;
      else others++;
    }
    const needed = scored.length - others;
    if (needed > 0 && others > 0) found.push(pairs / (needed * others));
  }
  return found.reduce((sum, value) => sum + value, 0) / found.length;
}
