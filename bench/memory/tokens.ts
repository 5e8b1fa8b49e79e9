/** Tokens by a real tokenizer, so that figures do not depend on our own estimate. */
import type { Message } from '../../src/conversation/message.ts';
import type { CountMessages } from '../../src/lab/score.ts';
import { messageText } from '../../src/lab/texts.ts';
import { loadExactCounter } from '../../src/tokens/exact-counter.ts';

/** Makes a counter of the tokens (o200k) of messages that counts each once, however many contexts it stands in. */
export async function createExactCounter(): Promise<CountMessages> {
  const count = await loadExactCounter('o200k');
  const known = new WeakMap<Message, number>();
  const countMessage = (message: Message) => {
    const tokens = known.get(message) ?? count(messageText(message));
    known.set(message, tokens);
    return tokens;
  };
  return (messages) => messages.reduce((sum, message) => sum + countMessage(message), 0);
}
