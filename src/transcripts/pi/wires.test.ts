import { describe, expect, it } from 'vitest';
import { bodyOf, foldTranscript } from '../../../test/support/fold-records.ts';
import { pi } from './reader.ts';

const readOne = (...records: readonly unknown[]) => foldTranscript(pi, records);

const header = { type: 'session', version: 3, id: 'b7c5', cwd: '/home/ada/kiln' };
const message = (fields: object) => ({ type: 'message', message: fields });
const user = (text: string) => message({ role: 'user', content: [{ type: 'text', text }] });
const result = (id: string, content: unknown) =>
  message({ role: 'toolResult', toolCallId: id, toolName: 'read', content, isError: false });
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: { path: 'kiln.ts' } });

const reasoningItem = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'b3BhcXVl' };
const thinking = { type: 'thinking', thinking: 'warm', thinkingSignature: JSON.stringify(reasoningItem) };

const newest = { api: 'openai-responses', provider: 'openai', model: 'gpt-5.5' };

function assistant(content: readonly unknown[], fields: object = {}) {
  const usage = { input: 10, output: 4, cacheRead: 200, cacheWrite: 30 };
  return message({ role: 'assistant', content, ...newest, usage, stopReason: 'stop', ...fields });
}

describe('a pi session with the Responses API', () => {
  it('becomes Responses items, with reasoning and ids as the API gave them', () => {
    const signed = { ...text('Reading.'), textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}' };
    const transcript = readOne(
      header,
      user('light the kiln'),
      assistant([thinking, signed, call('call_1|fc_1'), call('call_2|fc_2')], { responseId: 'resp_1' }),
      result('call_1|fc_1', [text('one'), text('two')]),
      result('call_2|fc_2', 'plain'),
    );

    expect(transcript).toMatchObject({
      reader: 'pi',
      format: 'openai-responses',
      model: 'gpt-5.5',
      notes: [],
    });
    const called = { type: 'function_call', name: 'read', arguments: '{"path":"kiln.ts"}' };
    expect(bodyOf(transcript)).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'light the kiln' }] },
      reasoningItem,
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Reading.', annotations: [] }],
      },
      { ...called, id: 'fc_1', call_id: 'call_1' },
      { ...called, id: 'fc_2', call_id: 'call_2' },
      { type: 'function_call_output', call_id: 'call_1', output: 'one\ntwo' },
      { type: 'function_call_output', call_id: 'call_2', output: 'plain' },
    ]);
    const origins = transcript.segments[0]?.origins ?? [];
    expect(origins.map(({ responseId }) => responseId)).toEqual([
      undefined,
      ...Array<string>(4).fill('resp_1'),
      undefined,
      undefined,
    ]);
    expect(origins.map(({ usage }) => usage?.promptTokens)).toEqual([
      ...Array<undefined>(4).fill(undefined),
      240,
      undefined,
      undefined,
    ]);
  });

  it.each([
    { why: 'another model', author: { model: 'gpt-5.4' } },
    { why: 'another provider', author: { provider: 'azure' } },
    {
      why: 'another API',
      author: { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-5' },
    },
  ])('keeps of a turn by $why what it says and calls, without reasoning and ids of items', ({ author }) => {
    const signed = { ...text('Reading.'), textSignature: '{"v":1,"id":"msg_1"}' };
    const transcript = readOne(
      header,
      assistant([thinking, signed, call('toolu:01.a|fc_1')], author),
      result('toolu:01.a|fc_1', 'r'),
      assistant([text('Done.')]),
    );

    expect(bodyOf(transcript)).toEqual([
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Reading.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'toolu_01_a', name: 'read', arguments: '{"path":"kiln.ts"}' },
      { type: 'function_call_output', call_id: 'toolu_01_a', output: 'r' },
      expect.objectContaining({ content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }),
    ]);
    expect(transcript.notes).toEqual(['1 thinking block that the newest model did not write left out']);
  });

  it('leaves out turns that were cut short, and what came of their calls', () => {
    const transcript = readOne(
      header,
      user('go'),
      assistant([thinking, call('call_1|fc_1')], { stopReason: 'aborted' }),
      result('call_1|fc_1', 'too late'),
      user('again'),
      assistant([text('Done.')]),
    );

    expect(bodyOf(transcript)).toMatchObject([{ role: 'user' }, { role: 'user' }, { role: 'assistant' }]);
    expect(transcript.notes).toEqual(['1 aborted or failed turn left out']);
  });

  it('may hold images, in the user’s words and in results', () => {
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
    const part = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aGk=' };
    const transcript = readOne(
      header,
      message({ role: 'user', content: [image] }),
      assistant([call('call_1|fc_1')]),
      result('call_1|fc_1', [text('see'), image]),
    );

    expect(bodyOf(transcript)).toMatchObject([
      { role: 'user', content: [part] },
      {},
      { output: [{ type: 'input_text', text: 'see' }, part] },
    ]);
  });

  it('opens a segment with each compaction, and counts the items that it carried', () => {
    const entry = (record: object, id: string, parentId: string | null) => ({ ...record, id, parentId });
    const transcript = readOne(
      header,
      entry(user('one'), '1', null),
      entry(assistant([thinking, text('first')]), '2', '1'),
      { type: 'compaction', id: '3', parentId: '2', summary: 'they counted', firstKeptEntryId: '2' },
      entry(user('two'), '4', '3'),
    );

    expect(transcript.segments[1]?.opening).toMatchObject({ summary: 'they counted', carried: 3 });
    expect(bodyOf(transcript, 1)).toMatchObject([
      { role: 'user', content: [{ text: 'they counted' }] },
      reasoningItem,
      { type: 'message' },
      { role: 'user', content: [{ text: 'two' }] },
    ]);
  });
});

describe('what a pi session says around its messages', () => {
  const tool = { name: 'read', description: 'reads', parameters: { type: 'object' } };
  const first = message({
    role: 'system',
    content: '',
    sections: { who: 'You are a potter.', rules: 'Be brief.' },
    toolsAdded: [tool, { ...tool, name: 'burn' }],
  });
  const second = message({
    role: 'system',
    content: [text('It is Sunday.')],
    sections: { rules: null, who: 'You are a baker.' },
    toolsRemoved: [{ name: 'burn' }],
  });

  it('stands in the body, as it was at the end', () => {
    const transcript = readOne(header, first, user('go'), second, assistant([text('Done.')]));

    expect(bodyOf(transcript)).toMatchObject({
      instructions: 'It is Sunday.\n\nYou are a baker.',
      tools: [{ type: 'function', ...tool, strict: false }],
      input: [{ role: 'user' }, { role: 'assistant' }],
    });
    expect(transcript.segments[0]?.origins).toHaveLength(2);
  });

  it('stands in an Anthropic body as well', () => {
    const claude = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-5' };
    const transcript = readOne(header, first, user('go'), assistant([text('Done.')], claude));

    expect(bodyOf(transcript)).toEqual({
      system: 'You are a potter.\n\nBe brief.',
      tools: [
        { name: 'read', description: 'reads', input_schema: { type: 'object' } },
        { name: 'burn', description: 'reads', input_schema: { type: 'object' } },
      ],
      messages: [
        { role: 'user', content: [text('go')] },
        { role: 'assistant', content: [text('Done.')] },
      ],
    });
  });
});

describe('ids of calls in an Anthropic session', () => {
  it('that Anthropic refuses get legal ones, and two never get the same', () => {
    const claude = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-5' };
    const long = 'x'.repeat(200);
    const ids = ['toolu_1', 'call_1|fc_1', 'call_1.fc_1', `${long}1`, `${long}2`];
    const transcript = readOne(
      header,
      ...ids.flatMap((id) => [assistant([call(id)], claude), result(id, `of ${id}`)]),
    );
    const messages = bodyOf(transcript) as { content: { id?: string; tool_use_id?: string }[] }[];
    const named = messages.map(({ content }) => content[0]?.id ?? content[0]?.tool_use_id ?? '');

    expect(named.filter((_, index) => index % 2 === 0)).toEqual(named.filter((_, index) => index % 2 === 1));
    expect(named[0]).toBe('toolu_1');
    expect(new Set(named).size).toBe(ids.length);
    for (const name of named) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});
