/** One thing that a model looks at: which of `size` bins an item falls into. */
export interface Feature {
  readonly name: string;
  readonly size: number;
  /** Set for two features as one, where they mean something else together. */
  readonly pair?: readonly [Feature, Feature];
}

/** Two features as one, where they mean something else together. */
export function cross(left: Feature, right: Feature): Feature {
  return { name: `${left.name}, ${right.name}`, size: left.size * right.size, pair: [left, right] };
}

/**
 * Writes down which bin of each single feature an item falls into. One function for all of them: a call for each would take
 * longer than what it does.
 */
type FindBins<Item, Setting> = (item: Item, setting: Setting, into: Uint16Array) => void;

/** The number of the first threshold that a value does not exceed; as many as there are thresholds when it exceeds all. */
export function binOf(value: number, thresholds: readonly number[]): number {
  let bin = 0;
  while (bin < thresholds.length && value > (thresholds[bin] ?? 0)) bin++;
  return bin;
}

/** A model that adds up one weight for each feature: that of the bin that the item falls into. */
export interface BinModel {
  readonly bias: number;
  /** The weights of all bins, feature after feature. */
  readonly weights: ArrayLike<number>;
}

/** For each feature or pair of features the numbers of its single ones, and the place of its first weight. */
interface Terms {
  readonly left: Uint16Array;
  /** The number of a bin that is always 0 for a feature by itself. */
  readonly right: Uint16Array;
  readonly rightSize: Uint16Array;
  readonly offset: Uint16Array;
}

/** The features of a model, and where their weights are. */
export interface FeatureTable<Item, Setting> {
  readonly features: readonly Feature[];
  readonly offsets: readonly number[];
  /** How many weights there are. */
  readonly size: number;
  readonly findBins: FindBins<Item, Setting>;
  readonly terms: Terms;
}

/** Lays the features out one after the other. `single` are those whose bins are found, in this order. */
export function layOut<Item, Setting>(
  features: readonly Feature[],
  single: readonly Feature[],
  findBins: FindBins<Item, Setting>,
): FeatureTable<Item, Setting> {
  const offsets: number[] = [];
  let size = 0;
  for (const feature of features) {
    offsets.push(size);
    size += feature.size;
  }
  const pairs = features.map((feature) => feature.pair ?? ([feature, undefined] as const));
  const terms = {
    left: Uint16Array.from(pairs, ([left]) => single.indexOf(left)),
    right: Uint16Array.from(pairs, ([, right]) => (right === undefined ? ZERO_BIN : single.indexOf(right))),
    rightSize: Uint16Array.from(pairs, ([, right]) => right?.size ?? 1),
    offset: Uint16Array.from(offsets),
  };
  return { features, offsets, size, findBins, terms };
}

/** Behind the bins of all features. */
const ZERO_BIN = 63;
const bins = new Uint16Array(ZERO_BIN + 1);

/** Writes down which weight each feature of an item takes. */
export function weightIndices<Item, Setting>(
  { findBins, terms: { left, right, rightSize, offset } }: FeatureTable<Item, Setting>,
  item: Item,
  setting: Setting,
  into: Uint16Array,
): void {
  findBins(item, setting, bins);
  for (let term = 0; term < left.length; term++) {
    const first = bins[left[term] ?? ZERO_BIN] ?? 0;
    const second = bins[right[term] ?? ZERO_BIN] ?? 0;
    into[term] = (offset[term] ?? 0) + first * (rightSize[term] ?? 1) + second;
  }
}

/** The chance that a model gives to an item whose weights are these. */
export function chanceOf({ bias, weights }: BinModel, indices: Uint16Array): number {
  let sum = bias;
  for (let term = 0; term < indices.length; term++) sum += weights[indices[term] ?? 0] ?? 0;
  return 1 / (1 + Math.exp(-sum));
}
