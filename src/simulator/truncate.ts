import { withMessages, writeConversation } from '../conversation/format.ts';
import { measurePrompt, type Prompt, type TokenCounter } from './prompt.ts';

/**
 * Drops the oldest messages that are no instructions until the prompt fits, as some servers do without a word. The last
 * message always stays. The very same prompt when it fits.
 */
export function truncatePrompt(prompt: Prompt, limitTokens: number, countTokens?: TokenCounter): Prompt {
  if (prompt.tokens <= limitTokens) return prompt;
  const { conversation } = prompt;
  const last = conversation.messages.length - 1;
  const droppable = conversation.messages.filter(({ role }, index) => role !== 'system' && index < last);
  const without = (count: number): Prompt => {
    const dropped = new Set(droppable.slice(0, count));
    const kept = conversation.messages.filter((message) => !dropped.has(message));
    const body = writeConversation(withMessages(conversation, kept));
    return measurePrompt(conversation.format.read(body), countTokens);
  };
  let tooFew = 0;
  let enough = droppable.length;
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (without(middle).tokens > limitTokens) tooFew = middle;
    else enough = middle;
  }
  return without(enough);
}
