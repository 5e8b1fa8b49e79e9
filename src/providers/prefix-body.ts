import { RoundfoldError } from '../conversation/errors.ts';
import { type Conversation, withMessages, writeConversation } from '../conversation/format.ts';
import { isObject, type JsonObject } from '../conversation/json.ts';

/**
 * The conversation's own body with `prompt` as one more user message. Every message, the instructions and the tools are
 * the same values as before, so that the provider finds them in its cache. Fields in `dropped` shape an answer that is
 * not wanted here (a stream, a schema) and are left out.
 * @throws RoundfoldError `usage` when the conversation is in another wire format, or a bare list of messages
 */
export function prefixBody(
  prefix: Conversation,
  prompt: string,
  wanted: { readonly format: string; readonly dropped: ReadonlySet<string> },
): JsonObject {
  const { format, messages } = prefix;
  if (format.name !== wanted.format) {
    throw new RoundfoldError('usage', `a ${format.name} conversation cannot be sent as ${wanted.format}`, {
      remedy: 'Send the summary request without the prefix, or through a client of the same format.',
    });
  }
  const question = format.userMessages([format.textBlock(prompt)]);
  const body = writeConversation(withMessages(prefix, [...messages, ...question]));
  if (!isObject(body)) {
    throw new RoundfoldError('usage', 'a bare list of messages has no instructions and tools to send again', {
      remedy: 'Read the whole request body, or send the summary request without the prefix.',
    });
  }
  return Object.fromEntries(Object.entries(body).filter(([key]) => !wanted.dropped.has(key)));
}
