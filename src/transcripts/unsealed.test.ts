import { describe, expect, it } from 'vitest';
import { ChangeLog } from '../formats/change-log.ts';
import { findFormat } from '../formats/registry.ts';
import { withoutBoundReasoning } from './unsealed.ts';

const anthropic = findFormat('anthropic-messages')!;
const responses = findFormat('openai-responses')!;
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const text = (words: string) => ({ type: 'text', text: words });

describe('signed thinking', () => {
  const list = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: [thinking('a'), text('first')] },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: [thinking('b')] },
    { role: 'assistant', content: [thinking('c'), text('second')] },
  ];
  const left = (isSameAgent: boolean, unchanged: number) => {
    const log = new ChangeLog();
    const { messages } = withoutBoundReasoning(anthropic.read(list), { isSameAgent, unchanged }, log);
    return { raws: messages.map(({ raw }) => raw), changes: log.list() };
  };

  it('stays in front of the first change where the same agent goes on', () => {
    const { raws, changes } = left(true, 2);

    expect(raws).toEqual([list[0], list[1], list[2], { role: 'assistant', content: [text('second')] }]);
    expect(raws[1]).toBe(list[1]);
    expect(changes).toEqual([{ what: 'reasoning block', became: expect.any(String), count: 2 }]);
  });

  it('stays whole where nothing has changed', () => {
    expect(left(true, 5)).toEqual({ raws: list, changes: [] });
  });

  it('leaves where another agent goes on', () => {
    expect(JSON.stringify(left(false, 5).raws)).not.toContain('thinking');
  });
});

describe('reasoning items', () => {
  const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' };
  const bare = { type: 'reasoning', id: 'rs_2', summary: [] };
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'run', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
  const answer = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'done' }],
  };
  const left = (list: readonly unknown[], isSameAgent: boolean) =>
    withoutBoundReasoning(responses.read(list), { isSameAgent, unchanged: 0 }, new ChangeLog()).messages.map(
      ({ raw }) => raw,
    );

  it('stay with the ids of what follows where they are sealed and the same agent goes on', () => {
    const list = [sealed, call, output, answer];
    expect(left(list, true)).toEqual(list);
  });

  it('leave without sealed content, and the items of the same response lose their ids', () => {
    const { id: _call, ...callWithoutId } = call;
    const { id: _answer, ...answerWithoutId } = answer;

    expect(left([bare, answer, call, output, answer], true)).toEqual([
      answerWithoutId,
      callWithoutId,
      output,
      answer,
    ]);
  });

  it('leave where another agent goes on', () => {
    expect(left([sealed, output], false)).toEqual([output]);
  });
});
