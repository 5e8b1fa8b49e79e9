import type { Message, ToolCallBlock, ToolResultBlock } from './message.ts';
import { OpenCalls, OpenCallsByName, type PackedPosition } from './open-calls.ts';

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
    pair: (call, result) => pairs.push({ call: unpackPosition(call), result: unpackPosition(result) }),
    unanswered: (call) => unanswered.push(unpackPosition(call)),
    orphan: (result) => orphans.push(unpackPosition(result)),
  });
  for (const [index, message] of messages.entries()) linker.add(message, index);
  unanswered.push(...linker.open().map(unpackPosition));
  unanswered.sort((left, right) => left.message - right.message || left.block - right.block);
  return { pairs, unanswered, orphans };
}

/** Hears of every pair and of everything that has no other half. */
export interface ToolVisitor {
  pair(call: PackedPosition, result: PackedPosition): void;
  /** A call whose id was used again before it was answered. Those still open at the end are the linker's to tell. */
  unanswered?(call: PackedPosition): void;
  orphan?(result: PackedPosition): void;
}

/** More blocks than any message has. */
const BLOCKS = 2 ** 20;

/** The index of the message that a packed position is in. */
export function messageOf(packed: PackedPosition): number {
  return Math.floor(packed / BLOCKS);
}

/** The index in its message that a packed position stands for. */
export function blockOf(packed: PackedPosition): number {
  return packed % BLOCKS;
}

/** The place that a packed position stands for. */
export function unpackPosition(packed: PackedPosition): BlockPosition {
  return { message: messageOf(packed), block: blockOf(packed) };
}

/** Pairs calls and results of a list that is given to it message by message. */
export class ToolLinker {
  private readonly visitor: ToolVisitor;
  // What the client was asked to run the provider never answers, and the other way round.
  private readonly clientCalls = new OpenCalls();
  private readonly serverCalls = new OpenCalls();
  private readonly callsByName = new OpenCallsByName();

  constructor(visitor: ToolVisitor) {
    this.visitor = visitor;
  }

  /** Takes the next message. */
  add({ blocks }: Message, index: number): void {
    for (let position = 0; position < blocks.length; position++) {
      const block = blocks[position];
      if (block?.type === 'tool-call') {
        const calls = block.runBy === 'client' ? this.clientCalls : this.serverCalls;
        this.openCall(calls, block, index * BLOCKS + position);
      } else if (block?.type === 'tool-result') {
        const calls = block.runBy === 'client' ? this.clientCalls : this.serverCalls;
        this.closeCall(calls, block, index * BLOCKS + position);
      }
    }
  }

  /** The calls that are still waiting. */
  open(): readonly PackedPosition[] {
    return [...this.clientCalls.all(), ...this.serverCalls.all(), ...this.callsByName.all()];
  }

  private openCall(calls: OpenCalls, { id, name }: ToolCallBlock, position: PackedPosition): void {
    if (id === undefined) {
      this.callsByName.add(name, position);
      return;
    }
    const replaced = calls.add(id, position);
    if (replaced !== undefined) this.visitor.unanswered?.(replaced);
  }

  private closeCall(calls: OpenCalls, { callId: id, name }: ToolResultBlock, position: PackedPosition): void {
    const call = (id === undefined ? undefined : calls.take(id)) ?? this.callsByName.take(name);
    if (call === undefined) this.visitor.orphan?.(position);
    else this.visitor.pair(call, position);
  }
}
