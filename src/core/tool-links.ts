import type { Message, ToolCallBlock, ToolResultBlock } from './message.ts';

/** Where a block stands: index of its message, index in that message. */
export interface BlockPosition {
  readonly message: number;
  readonly block: number;
}

/** A tool call and the result that answers it. */
export interface ToolPair {
  readonly call: BlockPosition;
  readonly result: BlockPosition;
}

export interface ToolLinks {
  readonly pairs: readonly ToolPair[];
  /** Calls that nothing answers. */
  readonly unanswered: readonly BlockPosition[];
  /** Results that answer no open call: their call is missing, comes later, or was answered already. */
  readonly orphans: readonly BlockPosition[];
}

/**
 * Pairs every tool result with the call it answers, in one pass.
 *
 * A result answers the newest open call with its id, so an id that is used again later opens a new pair.
 * Where the call has no id (Gemini), results go to the open calls of that name in their order.
 */
export function linkTools(messages: readonly Message[]): ToolLinks {
  const pairs: ToolPair[] = [];
  const unanswered: BlockPosition[] = [];
  const orphans: BlockPosition[] = [];
  visitTools(messages, {
    pair: (call, result) => pairs.push({ call: unpack(call), result: unpack(result) }),
    unanswered: (call) => unanswered.push(unpack(call)),
    orphan: (result) => orphans.push(unpack(result)),
  });
  unanswered.sort((left, right) => left.message - right.message || left.block - right.block);
  return { pairs, unanswered, orphans };
}

/**
 * For each message the index of the last message that answers one of its calls, or -1. The same pairs as `linkTools`,
 * without making anything of them: this runs over the whole conversation on every turn.
 */
export function lastAnswers(messages: readonly Message[]): Int32Array {
  const answeredBy = new Int32Array(messages.length).fill(-1);
  visitTools(messages, {
    pair: (call, result) => {
      answeredBy[messageOf(call)] = messageOf(result);
    },
  });
  return answeredBy;
}

/** A position in one number, so that millions of them cost no objects. */
type PackedPosition = number;

/** More blocks than any message has. */
const BLOCKS = 2 ** 20;

function unpack(packed: PackedPosition): BlockPosition {
  return { message: messageOf(packed), block: packed % BLOCKS };
}

function messageOf(packed: PackedPosition): number {
  return Math.floor(packed / BLOCKS);
}

interface ToolVisitor {
  pair(call: PackedPosition, result: PackedPosition): void;
  unanswered?(call: PackedPosition): void;
  orphan?(result: PackedPosition): void;
}

function visitTools(messages: readonly Message[], visitor: ToolVisitor): void {
  // What the client was asked to run the provider never answers, and the other way round.
  const openCalls = { client: new Map<string, PackedPosition>(), server: new Map<string, PackedPosition>() };
  const openByName = new OpenCallsByName();

  const open = (call: ToolCallBlock, position: PackedPosition) => {
    if (call.id === undefined) return openByName.add(call.name, position);
    const openById = openCalls[call.runBy];
    const replaced = openById.get(call.id);
    if (replaced !== undefined) visitor.unanswered?.(replaced);
    openById.set(call.id, position);
  };

  const close = (result: ToolResultBlock, position: PackedPosition) => {
    const openById = openCalls[result.runBy];
    const call = result.callId === undefined ? undefined : openById.get(result.callId);
    if (call !== undefined && result.callId !== undefined) openById.delete(result.callId);
    const answered = call ?? openByName.take(result.name);
    if (answered === undefined) visitor.orphan?.(position);
    else visitor.pair(answered, position);
  };

  for (let index = 0; index < messages.length; index++) {
    const blocks = messages[index]?.blocks ?? [];
    for (let position = 0; position < blocks.length; position++) {
      const block = blocks[position];
      if (block?.type === 'tool-call') open(block, index * BLOCKS + position);
      else if (block?.type === 'tool-result') close(block, index * BLOCKS + position);
    }
  }
  for (const openById of Object.values(openCalls)) {
    for (const call of openById.values()) visitor.unanswered?.(call);
  }
  for (const call of openByName.all()) visitor.unanswered?.(call);
}

/** Calls without id that wait for a result: a queue for each name, first come first served. */
class OpenCallsByName {
  private readonly queues = new Map<string, { readonly calls: PackedPosition[]; next: number }>();

  add(name: string, position: PackedPosition): void {
    const queue = this.queues.get(name);
    if (queue === undefined) this.queues.set(name, { calls: [position], next: 0 });
    else queue.calls.push(position);
  }

  /** The first call of that name; the first of all when the result has no name. */
  take(name: string | undefined): PackedPosition | undefined {
    const queue = name === undefined ? this.longestWaiting() : this.queues.get(name);
    const call = queue?.calls[queue.next];
    if (queue !== undefined && call !== undefined) queue.next++;
    return call;
  }

  all(): readonly PackedPosition[] {
    return [...this.queues.values()].flatMap(({ calls, next }) => calls.slice(next));
  }

  private longestWaiting() {
    const first = ({ calls, next }: { calls: PackedPosition[]; next: number }) =>
      calls[next] ?? Number.POSITIVE_INFINITY;
    return [...this.queues.values()].toSorted((left, right) => first(left) - first(right))[0];
  }
}
