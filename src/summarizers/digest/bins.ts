/** One thing that a model looks at: which of `size` bins an item falls into. */
export interface Feature<Item, Setting> {
  readonly name: string;
  readonly size: number;
  /** Set for two features as one, where they mean something else together. */
  readonly pair?: readonly [Feature<Item, Setting>, Feature<Item, Setting>];
  bin(item: Item, setting: Setting): number;
}

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
  readonly features: readonly Feature<Item, Setting>[];
  readonly offsets: readonly number[];
  /** How many weights there are. */
  readonly size: number;
  /** Features that are no pairs, each once: what pairs share is looked at only once for each item. */
  readonly single: readonly Feature<Item, Setting>[];
  readonly terms: readonly Term[];
}

/** Lays the features out one after the other. */
export function layOut<Item, Setting>(
  features: readonly Feature<Item, Setting>[],
): FeatureTable<Item, Setting> {
  const single: Feature<Item, Setting>[] = [];
  const numberOf = (feature: Feature<Item, Setting>): number => {
    const known = single.indexOf(feature);
    return known === -1 ? single.push(feature) - 1 : known;
  };
  const offsets: number[] = [];
  let size = 0;
  const terms = features.map((feature): Term => {
    const [left, right] = feature.pair ?? [feature];
    offsets.push(size);
    const offset = size;
    size += feature.size;
    return {
      left: numberOf(left),
      right: right === undefined ? -1 : numberOf(right),
      rightSize: right?.size ?? 1,
      offset,
    };
  });
  return { features, offsets, size, single, terms };
}

const MOST_FEATURES = 64;
const bins = new Uint16Array(MOST_FEATURES);

/** Writes down which weight each feature of an item takes. */
export function weightIndices<Item, Setting>(
  { single, terms }: FeatureTable<Item, Setting>,
  item: Item,
  setting: Setting,
  into: Uint16Array,
): void {
  for (let number = 0; number < single.length; number++) {
    const feature = single[number];
    if (feature !== undefined) bins[number] = Math.min(feature.size - 1, feature.bin(item, setting));
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
