import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages/format.ts';

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

  it.each<{
    what: string;
    edit: (block: { text: string; input: { lines: string[] }; note?: string }) => void;
  }>([
    { what: 'another text', edit: (block) => Object.assign(block, { text: 'two' }) },
    { what: 'a new field', edit: (block) => Object.assign(block, { note: 'cached' }) },
    { what: 'one field less', edit: (block) => Reflect.deleteProperty(block, 'text') },
    { what: 'another line deep inside', edit: (block) => block.input.lines.splice(0, 1, 'b') },
    { what: 'a line more deep inside', edit: (block) => block.input.lines.push('b') },
  ])('until a block in the middle of a list is edited in place: $what', ({ edit }) => {
    const block = { type: 'text', text: 'one', input: { lines: ['a'] } };
    const edited = { role: 'user', content: [block] };
    const list = [{ role: 'user', content: 'first' }, edited, { role: 'assistant', content: 'last' }];
    const before = read(list).messages;
    edit(block);
    const after = read(list).messages;

    expect(after[1]).not.toBe(before[1]);
    expect(after[1]?.raw).toBe(edited);
    expect(readMessage(edited)).toBe(after[1]);
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
    expect(read(list).messages[1]).toBe(after[1]);
  });

  it('for the list as it was, although the same list is pushed to later', () => {
    const list: unknown[] = [{ role: 'user', content: 'a' }];
    const before = read(list).messages;
    list.push({ role: 'assistant', content: 'b' });

    expect(before).toHaveLength(1);
    expect(read(list).messages).toHaveLength(2);
  });

  it('not for a value that holds itself, which is read anew at once', () => {
    const input: Record<string, unknown> = { note: 'x' };
    Object.assign(input, { self: input, again: [input, input] });
    const message = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'x', input }] };

    expect(readMessage(message).raw).toBe(message);
    Object.assign(input, { note: 'y' });
    expect(readMessage(message).blocks[0]).toMatchObject({ input: { note: 'y' } });
  });
});
