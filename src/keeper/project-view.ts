import { withoutUsage } from '../compaction/plan/plan.ts';
import type { Conversation, Format } from '../conversation/format.ts';
import type { Message } from '../conversation/message.ts';
import type { Checkpoint } from '../stores/checkpoint.ts';

export interface ViewOptions {
  /** Number of system messages in front, which stay there. */
  readonly head: number;
  /**
   * Reasoning of messages before this one was written behind another prefix, and leaves; for models that refuse it. In
   * the coordinates of the checkpoint. Default: all of it stays.
   */
  readonly boundBefore?: number | undefined;
}

/**
 * What is sent: the checkpoint's parts and everything after its boundary. Messages that stand as they are, are the very
 * values of this request. The same checkpoint gives the same messages turn after turn, and whatever is new at the end.
 */
export function projectView(
  conversation: Conversation,
  checkpoint: Checkpoint,
  options: ViewOptions,
): Conversation {
  const { format, messages } = conversation;
  const { head, boundBefore = 0 } = options;
  const view: Message[] = messages.slice(0, head);
  let isChanged = false;
  const show = (from: number, count: number) => {
    for (let index = from; index < from + count; index++) {
      const message = messages[head + index];
      if (message === undefined) continue;
      const shown = isChanged && index < boundBefore ? withoutReasoning(message, format) : message;
      // What was reported for the whole is not true of the view.
      if (shown !== undefined)
        view.push(isChanged && shown.usage !== undefined ? withoutUsage(shown) : shown);
    }
  };
  for (const part of checkpoint.parts) {
    if ('from' in part) show(part.from, part.count);
    else {
      isChanged = true;
      view.push(format.readMessage(part.raw));
    }
  }
  show(checkpoint.boundary, messages.length - head - checkpoint.boundary);
  return { ...conversation, messages: view };
}

const messagesWithoutReasoning = new WeakMap<Message, Message | 'nothing-left'>();

/** Undefined when it was nothing else. Always the same value for the same message. */
function withoutReasoning(message: Message, format: Format): Message | undefined {
  const known = messagesWithoutReasoning.get(message);
  if (known !== undefined) return known === 'nothing-left' ? undefined : known;
  const blocks = message.blocks.filter(({ type }) => type !== 'reasoning');
  if (blocks.length === message.blocks.length) return message;
  const bare = blocks.length === 0 ? 'nothing-left' : format.withBlocks(message, blocks);
  messagesWithoutReasoning.set(message, bare);
  return bare === 'nothing-left' ? undefined : bare;
}
