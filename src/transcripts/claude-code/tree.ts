import { answeredCalls, askedCalls, type SessionRecord } from './record.ts';

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

/** What the model saw between two compactions. */
export interface Stretch {
  /** The boundary or the summary that the stretch begins with; undefined where the conversation begins. */
  readonly opener: TreeNode | undefined;
  /** In the order of the conversation. */
  readonly nodes: readonly TreeNode[];
}

/**
 * The live part of a conversation: the chain from its newest leaf back to its root, cut at the compactions, oldest
 * stretch first. Abandoned branches are not in it; the records of a response and the results of its calls are, even
 * where they hang beside the chain. Empty when nothing was said at all.
 */
export function liveStretches({ nodes }: Conversation): readonly Stretch[] {
  const leaf = nodes.findLast(({ record }) => record.isTurn);
  if (leaf === undefined) return [];
  const chain = climb(leaf, findSplices(nodes));
  const onChain = new Set(chain);
  return cutAtCompactions(chain).map(({ opener, nodes: own }) => ({
    opener,
    nodes: withSiblings(own, onChain),
  }));
}

/** Records from before a boundary that stayed in the context, and where they belong after it. */
interface Splice {
  readonly boundary: TreeNode;
  readonly anchor: TreeNode;
  /** Oldest first, at least one. */
  readonly kept: readonly TreeNode[];
}

/** By the nodes on which later records hang: the anchor and the last kept record. Newest compaction first. */
function findSplices(nodes: readonly TreeNode[]): ReadonlyMap<TreeNode, readonly Splice[]> {
  const splices = new Map<TreeNode, Splice[]>();
  if (!nodes.some(({ record }) => record.part?.type === 'boundary' && record.part.kept)) return splices;
  const byUuid = new Map(nodes.map((node) => [node.record.uuid, node]));
  for (const boundary of nodes.toReversed()) {
    const { part } = boundary.record;
    if (part?.type !== 'boundary' || part.kept === undefined) continue;
    const { anchorUuid, uuids, ends } = part.kept;
    const kept =
      ends === undefined
        ? uuids.flatMap((uuid) => byUuid.get(uuid) ?? [])
        : chainBetween(byUuid.get(ends.headUuid), byUuid.get(ends.tailUuid));
    const anchor = (anchorUuid === undefined ? undefined : byUuid.get(anchorUuid)) ?? boundary;
    const tail = kept.at(-1);
    if (tail === undefined) continue;
    for (const node of new Set([anchor, tail])) {
      const known = splices.get(node);
      const splice = { boundary, anchor, kept };
      if (known === undefined) splices.set(node, [splice]);
      else known.push(splice);
    }
  }
  return splices;
}

function chainBetween(head: TreeNode | undefined, tail: TreeNode | undefined): TreeNode[] {
  const chain: TreeNode[] = [];
  for (let node = tail; node !== undefined && head !== undefined; node = node.parent) {
    chain.push(node);
    if (node === head) return chain.reverse();
  }
  return [];
}

/** From the leaf to the root, told from the root on; kept records stand behind their anchor as well. */
function climb(leaf: TreeNode, splices: ReadonlyMap<TreeNode, readonly Splice[]>): TreeNode[] {
  const chain: TreeNode[] = [];
  const used = new Set<TreeNode>();
  let below = Number.POSITIVE_INFINITY;
  let node: TreeNode | undefined = leaf;
  while (node !== undefined) {
    const isReached = ({ boundary }: Splice) => boundary.position < below && !used.has(boundary);
    const splice: Splice | undefined = splices.get(node)?.find(isReached);
    if (splice !== undefined) {
      used.add(splice.boundary);
      for (const kept of splice.kept.toReversed()) chain.push(kept);
      node = splice.anchor;
    }
    chain.push(node);
    below = node.position;
    node = node.parent;
  }
  return chain.reverse();
}

interface GrowingStretch extends Stretch {
  readonly nodes: TreeNode[];
}

function cutAtCompactions(chain: readonly TreeNode[]): readonly Stretch[] {
  let current: GrowingStretch = { opener: undefined, nodes: [] };
  const stretches = [current];
  let awaitsSummary = false;
  for (const node of chain) {
    const { part } = node.record;
    const isBoundary = part?.type === 'boundary';
    const isKept = current.opener !== undefined && node.position < current.opener.position;
    const isSummary = part?.type === 'message' && part.isSummary && !isKept;
    if (isBoundary || (isSummary && !awaitsSummary)) {
      current = { opener: node, nodes: [] };
      stretches.push(current);
    }
    if (isBoundary || isSummary) awaitsSummary = isBoundary;
    current.nodes.push(node);
  }
  return stretches.filter(({ opener, nodes }) => opener !== undefined || nodes.some(isMessage));
}

function isMessage({ record }: TreeNode): boolean {
  return record.part?.type === 'message';
}

/**
 * Parallel results hang on different records of their response, and only one of them has a child: the others would
 * look like abandoned branches. Adds them, and the rest of each response, behind the record on the chain.
 */
function withSiblings(nodes: readonly TreeNode[], onChain: ReadonlySet<TreeNode>): TreeNode[] {
  const answered = new Set(nodes.flatMap(({ record }) => answeredCalls(record.part)));
  return nodes.flatMap((node) => {
    const { part } = node.record;
    if (part?.type !== 'message' || part.role !== 'assistant') return [node];
    return [node, ...siblingsBelow(node, part.responseId, { onChain, answered })];
  });
}

interface Surroundings {
  readonly onChain: ReadonlySet<TreeNode>;
  /** Calls that have a result already. */
  readonly answered: Set<string>;
}

function siblingsBelow(
  top: TreeNode,
  responseId: string | undefined,
  { onChain, answered }: Surroundings,
): TreeNode[] {
  const found: TreeNode[] = [];
  const asked = new Set(askedCalls(top.record.part));
  const open = top.children.map((node) => ({ node, isBelowResult: false })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isBelowResult } = next;
    const { part } = node.record;
    if (onChain.has(node)) continue;
    const calls = answeredCalls(part);
    const isResult = calls.some((id) => asked.has(id)) && calls.every((id) => !answered.has(id));
    const isSameResponse =
      part?.type === 'message' && responseId !== undefined && part.responseId === responseId;
    // What a tool has to say beside its result is a message of the harness that hangs on the result.
    const isRemark = part?.type === 'message' && part.isMeta && isBelowResult && calls.length === 0;
    if (part !== undefined && !isResult && !isSameResponse && !isRemark) continue;
    if (part !== undefined) found.push(node);
    for (const id of calls) answered.add(id);
    for (const id of askedCalls(part)) asked.add(id);
    for (const child of node.children.toReversed()) {
      open.push({ node: child, isBelowResult: isBelowResult || isResult });
    }
  }
  return found;
}
