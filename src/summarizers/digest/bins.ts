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
export type FindBins<Item, Setting> = (item: Item, setting: Setting, into: Uint16Array) => void;

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

/** A feature or a pair of features, with the place of its first weight. */
interface Term {
  readonly left: number;
  /** -1 for a feature by itself. */
  readonly right: number;
  readonly rightSize: number;
  readonly offset: number;
}

/** The features of a model, and where their weights are. */
export interface FeatureTable<Item, Setting> {
  readonly features: readonly Feature[];
  readonly offsets: readonly number[];
  /** How many weights there are. */
  readonly size: number;
  /** Features that are no pairs, in the order of their bins. */
  readonly single: readonly Feature[];
  readonly findBins: FindBins<Item, Setting>;
  readonly terms: readonly Term[];
}

/** Lays the features out one after the other. `single` are those whose bins are found, in this order. */
export function layOut<Item, Setting>(
  features: readonly Feature[],
  single: readonly Feature[],
  findBins: FindBins<Item, Setting>,
): FeatureTable<Item, Setting> {
  const offsets: number[] = [];
  let size = 0;
  const terms = features.map((feature): Term => {
    const [left, right] = feature.pair ?? [feature];
    offsets.push(size);
    const offset = size;
    size += feature.size;
    return {
      left: single.indexOf(left),
      right: right === undefined ? -1 : single.indexOf(right),
      rightSize: right?.size ?? 1,
      offset,
    };
  });
  return { features, offsets, size, single, findBins, terms };
}

const MOST_FEATURES = 64;
const bins = new Uint16Array(MOST_FEATURES);

/** Writes down which weight each feature of an item takes. */
export function weightIndices<Item, Setting>(
  { single, findBins, terms }: FeatureTable<Item, Setting>,
  item: Item,
  setting: Setting,
  into: Uint16Array,
): void {
  findBins(item, setting, bins);
  for (let number = 0; number < single.length; number++) {
    const last = (single[number]?.size ?? 1) - 1;
    if ((bins[number] ?? 0) > last) bins[number] = last;
  }
  for (let number = 0; number < terms.length; number++) {
    const term = terms[number];
    if (term === undefined) continue;
    const left = bins[term.left] ?? 0;
    into[number] = term.offset + (term.right === -1 ? left : left * term.rightSize + (bins[term.right] ?? 0));
  }
}

/** The chance that a model gives to an item whose weights are these. */
export function chanceOf({ bias, weights }: BinModel, indices: Uint16Array): number {
  let sum = bias;
  for (const index of indices) sum += weights[index] ?? 0;
  return 1 / (1 + Math.exp(-sum));
}
