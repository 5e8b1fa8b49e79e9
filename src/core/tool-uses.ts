import type { Message, ToolCallBlock, ToolResultBlock } from './message.ts';
import { rememberFold } from './prefix-memory.ts';
import { type BlockPosition, ToolLinker, unpackPosition } from './tool-links.ts';

/** A call of the client's tools with its result and where that stands. */
export interface AnsweredCall {
  readonly call: ToolCallBlock;
  readonly result: ToolResultBlock;
  readonly at: BlockPosition;
}

interface Uses {
  readonly messages: Message[];
  readonly uses: AnsweredCall[];
  readonly linker: ToolLinker;
  /** A copy for those who ask, as long as it is true. */
  answered: readonly AnsweredCall[];
}

/**
 * Every answered call whose result the client sent, in the order of the results. A longer list of the same conversation
 * goes on where the last one ended.
 */
export function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const state = foldUses(messages);
  if (state.answered.length < state.uses.length) state.answered = state.uses.slice();
  return state.answered;
}

const foldUses = rememberFold<Message, Uses>({
  start() {
    const messages: Message[] = [];
    const uses: AnsweredCall[] = [];
    const linker = new ToolLinker({
      pair(call, result) {
        const asked = unpackPosition(call);
        const at = unpackPosition(result);
        const callBlock = messages[asked.message]?.blocks[asked.block];
        const resultBlock = messages[at.message]?.blocks[at.block];
        if (callBlock?.type !== 'tool-call' || resultBlock?.type !== 'tool-result') return;
        if (resultBlock.runBy === 'client') uses.push({ call: callBlock, result: resultBlock, at });
      },
    });
    return { messages, uses, linker, answered: [] };
  },

  add({ messages, linker }, message, index) {
    messages.push(message);
    linker.add(message, index);
  },
});
