import { summaryMessageText } from '../../src/conversation/index.ts';
import { type Conversation, type Message, readConversation } from '../../src/index.ts';
import { MARKER_SOURCE } from '../../src/memory/markers.ts';
import { deepFreeze } from './deep-freeze.ts';

/** A frozen list of messages of Chat Completions. */
export function chat(messages: readonly unknown[]): Conversation {
  return readConversation(deepFreeze(messages), 'openai-chat');
}

/**
 * A list from one letter per message: `s` system, `u` user, `a` assistant, `C` an assistant that calls tools, `t` the
 * result of the next open call of the newest `C`.
 */
export function chatShape(shape: string): readonly Record<string, unknown>[] {
  const roles = new Map([
    ['s', 'system'],
    ['u', 'user'],
    ['a', 'assistant'],
  ]);
  let call = -1;
  let answered = 0;
  return [...shape].map((letter, index) => {
    if (letter === 't') {
      return { role: 'tool', tool_call_id: `c${call}_${answered++}`, content: `result ${index}` };
    }
    if (letter !== 'C') return { role: roles.get(letter), content: `${letter} ${index}` };
    call = index;
    answered = 0;
    const rest = shape.slice(index + 1);
    const results = [...(rest.includes('C') ? rest.slice(0, rest.indexOf('C')) : rest)];
    const calls = results.filter((one) => one === 't').map((_one, number) => toolCall(`c${index}_${number}`));
    return {
      role: 'assistant',
      content: null,
      tool_calls: calls.length > 0 ? calls : [toolCall(`c${index}_0`)],
    };
  });
}

export function toolCall(id: string, input = '{}', name = 'ls'): Record<string, unknown> {
  return { id, type: 'function', function: { name, arguments: input } };
}

/** A summary of ours that stands for so many messages. */
export function markerRaw(coveredUntil: number, source = MARKER_SOURCE): { role: string; content: string } {
  const summary = `what happened until ${coveredUntil}`;
  return { role: 'user', content: summaryMessageText(summary, { coveredUntil, source }) };
}

/** Letters of `chatShape`, and `M` for a marker that stands for so many messages. */
export function viewOf(shape: string, coveredUntil = 0): readonly Message[] {
  const letters = chatShape(shape.replace('M', 'u'));
  return chat(letters.map((raw, index) => (shape[index] === 'M' ? markerRaw(coveredUntil) : raw))).messages;
}
