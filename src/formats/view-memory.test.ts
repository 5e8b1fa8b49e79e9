import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages.ts';

const { read, readMessage } = anthropicMessages;

describe('views are remembered', () => {
  it('for each message, in whatever list it stands', () => {
    const message = { role: 'user', content: 'hello' };

    expect(readMessage(message)).toBe(readMessage(message));
    expect(read([message, { role: 'user', content: 'x' }]).messages[0]).toBe(readMessage(message));
  });

  it('for a list that grows, is cut, or goes another way', () => {
    const [first, second, third, other] = ['a', 'b', 'c', 'd'].map((content) => ({ role: 'user', content }));
    const texts = (...list: unknown[]) =>
      read(list).messages.map(({ raw }) => (raw as { content: string }).content);

    expect(texts(first, second)).toEqual(['a', 'b']);
    expect(texts(first, second, third)).toEqual(['a', 'b', 'c']);
    expect(texts(first, other, third)).toEqual(['a', 'd', 'c']);
    expect(texts(first)).toEqual(['a']);
  });

  it('until a loop pushes a block to a message or gives it other content', () => {
    const message: { role: string; content: unknown } = {
      role: 'user',
      content: [{ type: 'text', text: 'one' }],
    };
    const list = [message];
    const [before] = read(list).messages;
    (message.content as unknown[]).push({ type: 'text', text: 'two' });
    const [after] = read(list).messages;
    message.content = 'three';

    expect(before?.blocks).toHaveLength(1);
    expect(after?.blocks).toHaveLength(2);
    expect(read(list).messages[0]?.blocks).toMatchObject([{ text: 'three' }]);
  });
});
