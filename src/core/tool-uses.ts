import type { Message, ToolCallBlock, ToolResultBlock } from './message.ts';
import { type BlockPosition, linkTools } from './tool-links.ts';

/** A call of the client's tools with its result and where that stands. */
export interface AnsweredCall {
  readonly call: ToolCallBlock;
  readonly result: ToolResultBlock;
  readonly at: BlockPosition;
}

/** Every answered call whose result the client sent, in the order of the results. */
export function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  return linkTools(messages).pairs.flatMap(({ call, result }) => {
    const asked = messages[call.message]?.blocks[call.block];
    const answer = messages[result.message]?.blocks[result.block];
    if (asked?.type !== 'tool-call' || answer?.type !== 'tool-result' || answer.runBy === 'server') return [];
    return [{ call: asked, result: answer, at: result }];
  });
}
