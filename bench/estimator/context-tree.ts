import { classLimit, startClass } from './byte-classes.ts';
import type { Samples } from './samples.ts';

/**
 * A context is the last few byte classes of a text, oldest first, the current byte last, one UTF-16 unit a
 * class. Its value is the share of those places where the current byte starts a token.
 */
export type Contexts = ReadonlyMap<string, number>;

/** How far the tree is grown. */
export interface GrowthOptions {
  /** What a context must explain to be worth a state, in squared error where each kind of text has one token. */
  readonly worth: number;
  readonly depthLimit: number;
  /** Contexts seen less often are noise. */
  readonly countMinimum: number;
}

interface Node {
  readonly parent: number;
  readonly symbol: number;
  readonly depth: number;
  readonly weight: number;
  readonly mean: number;
}

/** Pulls the mean of a rare context towards that of its parent, as if seen so many times more. */
const shrinkCount = 20;

/** Grows the tree of contexts one class further back at a time, then cuts off what is not worth a state. */
export function growContexts(samples: Samples, options: GrowthOptions): Contexts {
  const weights = weighPlaces(samples);
  const nodes: Node[] = [rootOf(samples, weights)];
  const nodeAt = Int32Array.from(samples.classes, (symbol) => (symbol === startClass ? -1 : 0));
  let open = [0];
  for (let depth = 1; depth <= options.depthLimit && open.length > 0; depth++) {
    open = growLevel({ samples, weights, nodes, nodeAt, open, depth, options });
  }
  return contextsOf(nodes, worthwhile(nodes, options.worth));
}

/** Each kind of text weighs the same, however much there is of it. */
function weighPlaces(samples: Samples): Float32Array {
  const tokens = new Map<string, number>();
  samples.kinds.forEach((kind, index) => {
    tokens.set(kind, (tokens.get(kind) ?? 0) + samples.tokens[index]!);
  });
  const weights = new Float32Array(samples.classes.length);
  samples.kinds.forEach((kind, index) => {
    weights.fill(1 / tokens.get(kind)!, samples.offsets[index], samples.offsets[index + 1]);
  });
  return weights;
}

function rootOf(samples: Samples, weights: Float32Array): Node {
  let weight = 0;
  let sum = 0;
  for (let place = 0; place < weights.length; place++) {
    if (samples.classes[place] === startClass) continue;
    weight += weights[place]!;
    sum += weights[place]! * samples.startsToken[place]!;
  }
  return { parent: -1, symbol: -1, depth: 0, weight, mean: sum / weight };
}

interface Level {
  readonly samples: Samples;
  readonly weights: Float32Array;
  readonly nodes: Node[];
  /** The deepest context found so far of each place, or -1 where it cannot go deeper. */
  readonly nodeAt: Int32Array;
  readonly open: readonly number[];
  readonly depth: number;
  readonly options: GrowthOptions;
}

function growLevel(level: Level): number[] {
  const slotOf = new Int32Array(level.nodes.length).fill(-1);
  level.open.forEach((node, slot) => {
    slotOf[node] = slot;
  });
  const tally = countChildren(level, slotOf);
  const { children, open } = addChildren(level, tally);
  const { nodeAt, samples, depth } = level;
  for (let place = 0; place < nodeAt.length; place++) {
    const node = nodeAt[place]!;
    if (node >= 0)
      nodeAt[place] = children[slotOf[node]! * classLimit + samples.classes[place - depth + 1]!]!;
  }
  return open;
}

interface Tally {
  readonly weight: Float64Array;
  readonly sum: Float64Array;
  readonly count: Int32Array;
}

function countChildren({ samples, weights, nodeAt, open, depth }: Level, slotOf: Int32Array): Tally {
  const size = open.length * classLimit;
  const tally = { weight: new Float64Array(size), sum: new Float64Array(size), count: new Int32Array(size) };
  const { classes, startsToken } = samples;
  for (let place = 0; place < nodeAt.length; place++) {
    const node = nodeAt[place]!;
    if (node < 0) continue;
    const slot = slotOf[node]!;
    // Nothing lies before the start of a text.
    if (slot < 0 || (depth > 1 && classes[place - depth + 2] === startClass)) {
      nodeAt[place] = -1;
      continue;
    }
    const cell = slot * classLimit + classes[place - depth + 1]!;
    tally.count[cell]!++;
    tally.weight[cell]! += weights[place]!;
    if (startsToken[place] === 1) tally.sum[cell]! += weights[place]!;
  }
  return tally;
}

function addChildren(
  { nodes, open, depth, options }: Level,
  tally: Tally,
): { children: Int32Array; open: number[] } {
  const children = new Int32Array(open.length * classLimit).fill(-1);
  const nextOpen: number[] = [];
  for (let cell = 0; cell < children.length; cell++) {
    const count = tally.count[cell]!;
    if (count < options.countMinimum) continue;
    const parent = open[Math.floor(cell / classLimit)]!;
    const weight = tally.weight[cell]!;
    const shrink = (shrinkCount * weight) / count;
    const mean = (tally.sum[cell]! + shrink * nodes[parent]!.mean) / (weight + shrink);
    children[cell] = nodes.length;
    // What is left unexplained bounds what all deeper contexts together can explain.
    if (weight * mean * (1 - mean) > options.worth) nextOpen.push(nodes.length);
    nodes.push({ parent, symbol: cell % classLimit, depth, weight, mean });
  }
  return { children, open: nextOpen };
}

/** Cost-complexity pruning: a subtree stays when it explains more than its number of contexts costs. */
function worthwhile(nodes: readonly Node[], worth: number): readonly boolean[] {
  const net = new Float64Array(nodes.length);
  const isKept = nodes.map(() => false);
  for (let index = nodes.length - 1; index > 0; index--) {
    const node = nodes[index]!;
    net[index]! += node.weight * (node.mean - nodes[node.parent]!.mean) ** 2 - worth;
    isKept[index] = net[index]! > 0 || node.depth === 1;
    if (isKept[index]) net[node.parent]! += Math.max(0, net[index]!);
  }
  isKept[0] = true;
  return isKept;
}

function contextsOf(nodes: readonly Node[], isKept: readonly boolean[]): Contexts {
  const names: (string | undefined)[] = [''];
  const contexts = new Map<string, number>([['', nodes[0]!.mean]]);
  for (let index = 1; index < nodes.length; index++) {
    const node = nodes[index]!;
    const parentName = names[node.parent];
    if (!isKept[index] || parentName === undefined) continue;
    const name = String.fromCharCode(node.symbol) + parentName;
    names[index] = name;
    contexts.set(name, node.mean);
  }
  return contexts;
}
