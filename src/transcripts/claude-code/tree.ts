import type { SessionRecord } from './record.ts';

/** A node of the tree that the records of a file form, in file order. */
export interface TreeNode {
  readonly record: SessionRecord;
  /** Its place in the order of the file. */
  readonly position: number;
  parent: TreeNode | undefined;
  readonly children: TreeNode[];
}

/** Nodes that hang together: one conversation with all its branches. */
export interface Conversation {
  /** In file order. */
  readonly nodes: readonly TreeNode[];
  /** How many records name a parent that is not in the file (or in a circle) and were joined to the one before. */
  readonly joined: number;
  /** Whether the first record names a parent that is not in the file. */
  readonly beginsInTheMiddle: boolean;
}

type Link = { readonly parent: TreeNode | undefined; readonly isGuess: boolean };

/**
 * Makes the tree and takes it apart into conversations, in file order. A record without a word on its parent, or with
 * a parent that is not in the file, follows the record before it in its lane.
 */
export function growTree(records: readonly SessionRecord[]): readonly Conversation[] {
  const nodes = records.map(
    (record, position): TreeNode => ({ record, position, parent: undefined, children: [] }),
  );
  const guessed = linkNodes(nodes);
  const roots = findRoots(nodes);
  for (const node of nodes) node.parent?.children.push(node);
  return conversationsOf(nodes, roots, guessed);
}

/** Sets every parent; answers with the nodes whose recorded parent could not be used. */
function linkNodes(nodes: readonly TreeNode[]): Set<TreeNode> {
  const byUuid = new Map(nodes.map((node) => [node.record.uuid, node]));
  const linkedLanes = new Set<string>();
  for (const { record } of nodes) {
    if (typeof record.parentUuid === 'string') linkedLanes.add(record.lane);
  }

  const guessed = new Set<TreeNode>();
  const newestOfLane = new Map<string, TreeNode>();
  let newestOfMain: TreeNode | undefined;
  for (const node of nodes) {
    const { record } = node;
    const previous = newestOfLane.get(record.lane);
    const link = opensSegment(record)
      ? findOldLeaf(record, byUuid, previous ?? (record.isSide ? undefined : newestOfMain))
      : findParent(record, byUuid, previous, linkedLanes);
    node.parent = link.parent;
    if (link.isGuess) guessed.add(node);
    newestOfLane.set(record.lane, node);
    if (!record.isSide) newestOfMain = node;
  }
  return guessed;
}

/** A compaction begins a new tree; what it compacted hangs on another link, or is simply what stands before it. */
function opensSegment({ part, parentUuid }: SessionRecord): boolean {
  if (part?.type === 'boundary') return true;
  return part?.type === 'message' && part.isSummary && typeof parentUuid !== 'string';
}

function findOldLeaf(
  { part, parentUuid, isSide }: SessionRecord,
  byUuid: ReadonlyMap<string | undefined, TreeNode>,
  previous: TreeNode | undefined,
): Link {
  const named = (part?.type === 'boundary' ? part.logicalParentUuid : undefined) ?? parentUuid ?? undefined;
  const found = named === undefined ? undefined : byUuid.get(named);
  return { parent: found?.record.isSide === isSide ? found : previous, isGuess: false };
}

function findParent(
  record: SessionRecord,
  byUuid: ReadonlyMap<string | undefined, TreeNode>,
  previous: TreeNode | undefined,
  linkedLanes: ReadonlySet<string>,
): Link {
  const { parentUuid, isSide, lane } = record;
  if (parentUuid === undefined) return { parent: previous, isGuess: false };
  // Old files have no tree at all: every parent is null.
  if (parentUuid === null) return { parent: linkedLanes.has(lane) ? undefined : previous, isGuess: false };

  const found = byUuid.get(parentUuid);
  if (found?.record.isSide === isSide) return { parent: found, isGuess: false };
  // A side chain begins where it leaves the main one.
  if (found !== undefined && isSide) return { parent: undefined, isGuess: false };
  // Without the name of the agent the record before may belong to another side chain.
  const isNameless = isSide && record.agentId === undefined;
  return { parent: isNameless ? undefined : previous, isGuess: true };
}

/** The first node of each node's conversation, by position. Circles are cut open at their oldest record. */
function findRoots(nodes: readonly TreeNode[]): readonly (TreeNode | undefined)[] {
  const roots = new Array<TreeNode | undefined>(nodes.length).fill(undefined);
  const lastClimb = new Int32Array(nodes.length).fill(-1);
  for (const start of nodes) {
    let top = start;
    while (roots[top.position] === undefined && top.parent !== undefined) {
      if (lastClimb[top.position] === start.position) {
        top = oldestOfCircle(top);
        top.parent = undefined;
        break;
      }
      lastClimb[top.position] = start.position;
      top = top.parent;
    }
    const root = roots[top.position] ?? top;
    for (let node: TreeNode | undefined = start; node && !roots[node.position]; node = node.parent) {
      roots[node.position] = root;
    }
  }
  return roots;
}

function oldestOfCircle(member: TreeNode): TreeNode {
  let oldest = member;
  for (let node = member.parent; node !== undefined && node !== member; node = node.parent) {
    if (node.position < oldest.position) oldest = node;
  }
  return oldest;
}

function conversationsOf(
  nodes: readonly TreeNode[],
  roots: readonly (TreeNode | undefined)[],
  guessed: ReadonlySet<TreeNode>,
): Conversation[] {
  const members = new Map<TreeNode, TreeNode[]>();
  for (const node of nodes) {
    const root = roots[node.position] ?? node;
    const list = members.get(root);
    if (list === undefined) members.set(root, [node]);
    else list.push(node);
  }
  return [...members].map(([root, list]) => ({
    nodes: list,
    joined: list.filter((node) => guessed.has(node) && node !== root).length,
    beginsInTheMiddle: guessed.has(root),
  }));
}
