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

interface OpenCall extends BlockPosition {
  readonly name: string;
}

/**
 * Pairs every tool result with the call it answers, in one pass.
 *
 * A result answers the newest open call with its id, so an id that is used again later opens a new pair.
 * Where the call has no id (Gemini), results go to the open calls of that name in their order.
 */
export function linkTools(messages: readonly Message[]): ToolLinks {
  const openById = new Map<string, OpenCall>();
  const openWithoutId: OpenCall[] = [];
  const unanswered: BlockPosition[] = [];
  const orphans: BlockPosition[] = [];
  const pairs: ToolPair[] = [];

  const open = (call: ToolCallBlock, position: BlockPosition) => {
    const entry = { ...position, name: call.name };
    if (call.id === undefined) {
      openWithoutId.push(entry);
      return;
    }
    const replaced = openById.get(call.id);
    if (replaced !== undefined) unanswered.push(replaced);
    openById.set(call.id, entry);
  };

  const close = (result: ToolResultBlock, position: BlockPosition) => {
    const call = takeCall(result, openById, openWithoutId);
    if (call === undefined) orphans.push(position);
    else pairs.push({ call: { message: call.message, block: call.block }, result: position });
  };

  for (const [index, message] of messages.entries()) {
    for (const [position, block] of message.blocks.entries()) {
      if (block.type === 'tool-call') open(block, { message: index, block: position });
      else if (block.type === 'tool-result') close(block, { message: index, block: position });
    }
  }

  unanswered.push(...openById.values(), ...openWithoutId);
  unanswered.sort(byPosition);
  return { pairs, unanswered: unanswered.map(({ message, block }) => ({ message, block })), orphans };
}

function takeCall(
  result: ToolResultBlock,
  openById: Map<string, OpenCall>,
  openWithoutId: OpenCall[],
): OpenCall | undefined {
  if (result.callId !== undefined) {
    const call = openById.get(result.callId);
    if (call !== undefined) {
      openById.delete(result.callId);
      return call;
    }
  }
  if (openWithoutId.length === 0) return undefined;
  const first = openWithoutId.findIndex((call) => result.name === undefined || call.name === result.name);
  return first === -1 ? undefined : openWithoutId.splice(first, 1)[0];
}

function byPosition(left: BlockPosition, right: BlockPosition): number {
  return left.message - right.message || left.block - right.block;
}
