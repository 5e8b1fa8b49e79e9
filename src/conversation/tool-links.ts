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
  const linker = new ToolLinker({
    pair: (call, result) => pairs.push({ call, result }),
    unanswered: (call) => unanswered.push(call),
    orphan: (result) => orphans.push(result),
  });
  for (const [index, message] of messages.entries()) linker.add(message, index);
  unanswered.push(...linker.open());
  unanswered.sort(byPosition);
  return { pairs, unanswered, orphans };
}

function byPosition(left: BlockPosition, right: BlockPosition): number {
  return left.message - right.message || left.block - right.block;
}

/** Hears of every pair and of everything that has no other half. */
export interface ToolVisitor {
  pair(call: BlockPosition, result: BlockPosition): void;
  /** A call whose id was used again before it was answered. Calls that are open at the end are not told: ask `open()`. */
  unanswered?(call: BlockPosition): void;
  orphan?(result: BlockPosition): void;
}

/** Pairs calls and results of a list that is given to it message by message. */
export class ToolLinker {
  readonly #visitor: ToolVisitor;
  // A provider never answers a call for the client, and a client never one for the provider.
  readonly #open = { client: new Map<string, BlockPosition>(), server: new Map<string, BlockPosition>() };
  /** Calls without id, by the name of the tool. */
  readonly #openByName = new Map<string, Queue>();

  constructor(visitor: ToolVisitor) {
    this.#visitor = visitor;
  }

  /** Takes the next message. */
  add({ blocks }: Message, message: number): void {
    for (let block = 0; block < blocks.length; block++) {
      const found = blocks[block];
      if (found?.type === 'tool-call') this.#addCall(found, { message, block });
      else if (found?.type === 'tool-result') this.#addResult(found, { message, block });
    }
  }

  /** The calls that are still waiting. */
  open(): readonly BlockPosition[] {
    return [
      ...this.#open.client.values(),
      ...this.#open.server.values(),
      ...[...this.#openByName.values()].flatMap(({ calls, next }) => calls.slice(next)),
    ];
  }

  #addCall({ id, name, runBy }: ToolCallBlock, position: BlockPosition): void {
    if (id === undefined) {
      const queue = this.#openByName.get(name);
      if (queue === undefined) this.#openByName.set(name, { calls: [position], next: 0 });
      else queue.calls.push(position);
      return;
    }
    const replaced = this.#open[runBy].get(id);
    if (replaced !== undefined) this.#visitor.unanswered?.(replaced);
    this.#open[runBy].set(id, position);
  }

  #addResult({ callId, name, runBy }: ToolResultBlock, position: BlockPosition): void {
    const known = callId === undefined ? undefined : this.#open[runBy].get(callId);
    if (callId !== undefined) this.#open[runBy].delete(callId);
    const call = known ?? this.#nextByName(name);
    if (call === undefined) this.#visitor.orphan?.(position);
    else this.#visitor.pair(call, position);
  }

  /** The first call of that name; the first of all when the result has no name. */
  #nextByName(name: string | undefined): BlockPosition | undefined {
    const queue = name === undefined ? this.#longestWaiting() : this.#openByName.get(name);
    const call = queue?.calls[queue.next];
    if (queue !== undefined && call !== undefined) queue.next++;
    return call;
  }

  #longestWaiting(): Queue | undefined {
    let longest: { readonly queue: Queue; readonly first: BlockPosition } | undefined;
    for (const queue of this.#openByName.values()) {
      const first = queue.calls[queue.next];
      if (first !== undefined && (longest === undefined || byPosition(first, longest.first) < 0))
        longest = { queue, first };
    }
    return longest?.queue;
  }
}

/** Calls in their order. Taking the first of thousands off an array would move all others. */
interface Queue {
  readonly calls: BlockPosition[];
  next: number;
}
