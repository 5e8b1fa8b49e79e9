import type { Message } from '../../src/conversation/message.ts';
import { anthropicMessages } from '../../src/formats/anthropic-messages/format.ts';

/**
 * A conversation from one letter per message: `u` user text, `a` assistant text, `c` a tool call, `r` the result of the
 * newest call. In Anthropic's wire format, with numbered texts and ids; `padding` makes results as long as is wanted.
 */
function wireShape(shape: string, padding: string): readonly unknown[] {
  let calls = 0;
  return [...shape].map((letter, index) => {
    switch (letter) {
      case 'u':
        return { role: 'user', content: `question ${index}` };
      case 'a':
        return { role: 'assistant', content: [{ type: 'text', text: `answer ${index}` }] };
      case 'c':
        calls++;
        return {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `toolu_${calls}`, name: 'read_file', input: {} }],
        };
      case 'r':
        return {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: `toolu_${calls}`, content: `text ${index}${padding}` },
          ],
        };
      default:
        throw new Error(`no message is written as ${JSON.stringify(letter)}`);
    }
  });
}

/** The views of `wireShape`. */
export function messagesOfShape(shape: string, padding = ''): readonly Message[] {
  return wireShape(shape, padding).map(anthropicMessages.readMessage);
}

/**
 * Records of responses with ids, one word per message: `U1` user text, `A1` a record of response 1, `A1(a,b)` one that
 * calls tools a and b, `T(a)` their result. Each record keeps its word as its text, for comparison.
 */
export function recordsOfWords(words: string): readonly Message[] {
  return words
    .split(' ')
    .filter((word) => word !== '')
    .map(recordOfWord);
}

function recordOfWord(word: string): Message {
  const [, letter, number, list] = /^([UAT])(\d*)(?:\(([\w,]+)\))?$/.exec(word) ?? [];
  if (letter === undefined) throw new Error(`no message is written as ${JSON.stringify(word)}`);
  const names = list?.split(',') ?? [];
  const text = { type: 'text', text: word };
  if (letter === 'A') {
    const calls = names.map((id) => ({ type: 'tool_use', id, name: 'read_file', input: {} }));
    return anthropicMessages.readMessage({
      id: `msg_${number}`,
      role: 'assistant',
      content: [text, ...calls],
    });
  }
  const results = names.map((id) => ({ type: 'tool_result', tool_use_id: id, content: word }));
  if (letter === 'T' && results.length === 0)
    results.push({ type: 'tool_result', tool_use_id: `t${number}`, content: word });
  return anthropicMessages.readMessage({ role: 'user', content: letter === 'T' ? results : [text] });
}

/** The word a record was made from. */
export function wordOf(message: Message): string {
  const block = message.blocks[0];
  if (block?.type === 'text') return block.text;
  const inner = block?.type === 'tool-result' ? block.content[0] : undefined;
  return inner?.type === 'text' ? inner.text : '?';
}
