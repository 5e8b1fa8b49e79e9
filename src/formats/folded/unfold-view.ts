import { type Conversation, withMessages } from '../../conversation/format.ts';
import type { Message } from '../../conversation/message.ts';
import { type FoldedFault, unfoldMessage } from './unfold-message.ts';

/** A folded message and what it was unfolded into, for `foldView`. */
export interface Folding {
  readonly folded: Message;
  readonly messages: readonly Message[];
}

/**
 * - `plain`: there is nothing folded; the very same conversation
 * - `unfolded`: every call and result is a message of its own
 * - `refused`: message `index` cannot be unfolded exactly; the very same conversation. It is legal as it stands, but its
 *   coordinates are not those of the unfolded one: no progress may be counted in it.
 */
export type UnfoldedView =
  | { readonly status: 'plain'; readonly conversation: Conversation }
  | {
      readonly status: 'unfolded';
      readonly conversation: Conversation;
      readonly foldings: readonly Folding[];
    }
  | {
      readonly status: 'refused';
      readonly conversation: Conversation;
      readonly index: number;
      readonly reason: FoldedFault;
    };

/**
 * Unfolds the tool calls that Open WebUI writes into the text of an answer as `<details type="tool_calls">`, so that the
 * conversation has the same messages as the one that the model saw. Chat Completions only; others are plain.
 * Ids stay as they are, long ones too: `shortenToolIds` is for what is sent.
 */
export function unfoldView(conversation: Conversation): UnfoldedView {
  const { format } = conversation;
  const foldings: Folding[] = [];
  const messages: Message[] = [];
  for (const [index, message] of conversation.messages.entries()) {
    const unfolded = format.name === 'openai-chat' ? unfoldMessage(message.raw) : undefined;
    if (unfolded?.status === 'refused') {
      return { status: 'refused', conversation, index, reason: unfolded.reason };
    }
    if (unfolded?.status !== 'unfolded') {
      messages.push(message);
      continue;
    }
    const views = unfolded.messages.map(format.readMessage);
    foldings.push({ folded: message, messages: views });
    messages.push(...views);
  }
  if (foldings.length === 0) return { status: 'plain', conversation };
  return { status: 'unfolded', conversation: withMessages(conversation, messages), foldings };
}
