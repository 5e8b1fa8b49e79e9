import { AIMessage, AIMessageChunk, HumanMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { langchain } from '../formats/langchain/format.ts';
import { toInstances } from './langchain-instances.ts';

describe('toInstances', () => {
  const human = new HumanMessage({ id: 'h', content: 'go on' });

  it.each([AIMessage, AIMessageChunk])('a call that was taken out of a %s stays out', (kind) => {
    const calls = ['one', 'two'].map((id) => ({ id, name: 'probe', args: {}, type: 'tool_call' as const }));
    const chunks = calls.map(({ id, name }, index) => ({ id, name, args: '{}', index }));
    const fields = kind === AIMessage ? { tool_calls: calls } : { tool_call_chunks: chunks };
    const answer = new kind({ id: 'a', content: 'Two at once.', ...fields });
    const view = langchain.readMessage(answer);
    const fewer = view.blocks.filter((block) => block.type !== 'tool-call' || block.id === 'two');
    const changed = langchain.withBlocks(view, fewer).raw as AIMessage;
    const [first, made] = toInstances<AIMessage | HumanMessage>([human, changed], [human, answer]);

    expect(answer.tool_calls).toHaveLength(2);
    expect(first).toBe(human);
    expect(made).toBeInstanceOf(kind);
    expect(made).toMatchObject({ id: 'a', tool_calls: [{ id: 'two', name: 'probe', args: {} }] });
    expect(made?.text).toBe('Two at once.');
  });

  it.each([
    { why: 'no live message of its kind is there', made: { type: 'ai', content: 'x' } },
    { why: 'it is a text', made: 'x' },
    { why: 'it is no message', made: 7 },
    { why: 'it is written down as data', made: { type: 'human', data: { content: 'x' } } },
  ])('leaves a message as it is when $why', ({ made }) => {
    const from: unknown[] = typeof made === 'string' ? [{ type: 'human', content: 'go on' }] : [human];

    expect(toInstances([made], from)).toEqual([made]);
    expect(toInstances([made], from)[0]).toBe(made);
  });
});
