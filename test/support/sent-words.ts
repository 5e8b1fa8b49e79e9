import { hasToolResult, type Message } from '../../src/conversation/message.ts';
import { readOpenings } from '../../src/conversation/summary-message.ts';
import { segmentsOf } from '../../src/memory/words/own-words.ts';

/** What the user wrote or pasted in a text, part by part: not what a harness has put there. */
function sentWords({ role, blocks }: Message): readonly string[] {
  const segments = blocks.flatMap((block) =>
    role === 'user' && block.type === 'text' ? segmentsOf(block.text) : [],
  );
  return segments.flatMap(({ by, text }) => (by === 'wrapped' || text.trim() === '' ? [] : [text.trim()]));
}

/** What the user wrote or pasted last, in a message that is no result; nothing where a harness alone has spoken. */
export function lastSentWords(messages: readonly Message[]): readonly string[] {
  const asked = messages.findLast(
    (message) =>
      !hasToolResult(message) && readOpenings(message) === undefined && sentWords(message).length > 0,
  );
  return asked === undefined ? [] : sentWords(asked);
}
