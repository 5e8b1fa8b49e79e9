import { answeredCalls, askedCalls } from './messages.ts';
import type { Conversation, TreeNode } from './tree.ts';

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
