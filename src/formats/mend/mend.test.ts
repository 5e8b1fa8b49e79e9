import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../test/support/deep-freeze.ts';
import { writeConversation } from '../../conversation/format.ts';
import { findFormat } from '../registry.ts';
import { mendConversation } from './mend.ts';

function mend(format: string, body: unknown, model?: string) {
  const { conversation, repairs } = mendConversation(findFormat(format)!.read(deepFreeze(body)), { model });
  return {
    body: writeConversation(conversation),
    repairs: repairs.map(({ what, became, count }) => `${count} × ${what}: ${became}`),
  };
}

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const system = (content: string) => ({ role: 'system', content });
const call = (id: string, path = 'a.ts') => ({ type: 'tool_use', id, name: 'read', input: { path } });
const result = (id: string, content = 'done') => ({ type: 'tool_result', tool_use_id: id, content });

describe('calls and results', () => {
  it('a recording that ends in an open call gets a result that says that there is none', () => {
    const { body, repairs } = mend('anthropic-messages', [user('go'), assistant([call('c1')])]);

    expect(body).toMatchObject([{}, {}, { role: 'user', content: [{ tool_use_id: 'c1', is_error: true }] }]);
    expect(repairs).toEqual(['1 × tool call without a result: given one that says so']);
  });

  it('a result in front of its call goes behind it', () => {
    const list = [user('go'), user([result('c1')]), assistant([call('c1')])];
    const { body, repairs } = mend('anthropic-messages', list);

    expect(body).toEqual([user('go'), assistant([call('c1')]), user([result('c1')])]);
    expect(repairs).toEqual(['1 × tool result in front of its call: moved behind it']);
  });

  it('a result whose call is not there is told as text', () => {
    const { body } = mend('openai-chat', [user('go'), { role: 'tool', tool_call_id: 'x', content: '42' }]);

    expect(JSON.stringify(body)).toContain('[result of an earlier tool call]\\n42');
  });

  it('an id that is used again later gets another one, in the call and in its result', () => {
    const turn = (path: string) => [assistant([call('c1', path)]), user([result('c1', path)])];
    const { body, repairs } = mend('anthropic-messages', [user('go'), ...turn('a.ts'), ...turn('b.ts')]);

    expect(body).toMatchObject([
      {},
      ...turn('a.ts'),
      assistant([{ ...call('c1_1', 'b.ts') }]),
      user([result('c1_1', 'b.ts')]),
    ]);
    expect(repairs).toEqual(['1 × call id: made legal', '1 × call id of a tool result: made legal']);
  });

  it('calls of neighbouring answers may share the message of their results', () => {
    const list = [
      user('go'),
      assistant([call('c1')]),
      assistant([call('c2')]),
      user([result('c1'), result('c2')]),
    ];

    expect(mend('anthropic-messages', list).repairs).toEqual([]);
  });

  it('a result that stands in the answer of the model gets a message of its own', () => {
    const list = [user('go'), assistant([call('c1'), result('c1'), { type: 'text', text: 'so' }])];
    const { body } = mend('anthropic-messages', list);

    expect(body).toEqual([
      user('go'),
      assistant([call('c1')]),
      user([result('c1')]),
      assistant([{ type: 'text', text: 'so' }]),
    ]);
  });

  it('a call that the provider runs itself needs no result', () => {
    const list = [
      user('go'),
      { type: 'tool_search_call', call_id: 'c1', execution: 'server', arguments: {} },
    ];

    expect(mend('openai-responses', list).repairs).toEqual([]);
  });
});

describe('system messages of Anthropic', () => {
  it('at the head of a request go to its instructions', () => {
    const body = { system: 'Be brief.', messages: [system('Be kind.'), user('go')] };

    expect(mend('anthropic-messages', body).body).toEqual({
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [user('go')],
    });
  });

  it('go behind the user message that follows them', () => {
    const list = [
      user('go'),
      assistant('yes'),
      system('Be kind.'),
      user('on'),
      system('Be brief.'),
      user('off'),
    ];

    expect(mend('anthropic-messages', list).body).toEqual([
      user('go'),
      assistant('yes'),
      user('on'),
      user('off'),
      system('Be kind.'),
      system('Be brief.'),
    ]);
  });

  it('between two answers, and for models that take none, speak as the user', () => {
    const marked = user([
      { type: 'text', text: '[system message]' },
      { type: 'text', text: 'Be kind.' },
    ]);
    const between = [user('go'), assistant('yes'), system('Be kind.'), assistant('well')];
    const request = { model: 'claude-sonnet-4-5', messages: [user('go'), system('Be kind.')] };

    expect(mend('anthropic-messages', between).body).toEqual(between.with(2, marked));
    expect(mend('anthropic-messages', request).body).toMatchObject({ messages: [user('go'), marked] });
  });
});

describe('what surrounds the words', () => {
  it('a record around a message, unknown roles, empty messages and loose values', () => {
    const list = [
      { uuid: 'u', message: user('go') },
      { role: 'narrator', content: 'so' },
      assistant(' '),
      null,
      'hm',
    ];
    const { body, repairs } = mend('anthropic-messages', list);

    expect(body).toEqual([user('go'), user('so'), user('hm')]);
    expect(repairs).toHaveLength(5);
  });

  it('text beside a role is the content of the message', () => {
    expect(mend('openai-chat', [{ role: 'user', text: 'go' }]).body).toEqual([user('go')]);
  });

  it('fields of a keeper stay in a list and leave a request', () => {
    const message = { ...user('go'), uuid: 'u1' };

    expect(mend('anthropic-messages', [message]).repairs).toEqual([]);
    expect(mend('anthropic-messages', { messages: [message] }).body).toEqual({ messages: [user('go')] });
  });

  it('a picture without data is noted; thinking without its signature goes', () => {
    const list = [
      user([{ type: 'image' }]),
      assistant([
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'so' },
      ]),
    ];

    expect(mend('anthropic-messages', list).body).toEqual([
      user([{ type: 'text', text: '[image without data]' }]),
      assistant([{ type: 'text', text: 'so' }]),
    ]);
  });

  it('pictures of tools go into a user message behind the results', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const calling = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const list = [
      user('go'),
      calling,
      { role: 'tool', tool_call_id: 'c1', content: [picture] },
      assistant('so'),
    ];

    expect(mend('openai-chat', list).body).toMatchObject([
      {},
      {},
      { role: 'tool' },
      { role: 'user', content: [{}, picture] },
      {},
    ]);
  });
});

describe('the ends of a request', () => {
  it('begins with the user, and ends with the user where the model continues no words of its own', () => {
    const { body } = mend('anthropic-messages', { model: 'claude-opus-4-8', messages: [assistant('so')] });

    expect(body).toMatchObject({ messages: [{ role: 'user' }, assistant('so'), { role: 'user' }] });
  });

  it('loses the blanks behind the last answer where the model goes on with it', () => {
    const { body } = mend('anthropic-messages', {
      model: 'claude-sonnet-4-5',
      messages: [user('go'), assistant('so \n')],
    });

    expect(body).toMatchObject({ messages: [user('go'), assistant([{ type: 'text', text: 'so' }])] });
  });
});

describe("provider's own summaries", () => {
  it('one that is signed becomes the first block of the first message', () => {
    const summary = { type: 'compaction', content: 'what happened', signature: 's' };
    const { body } = mend('anthropic-messages', [
      user('go'),
      assistant([{ type: 'text', text: 'so' }, summary]),
      user('on'),
    ]);

    expect(body).toEqual([assistant([summary]), user('on')]);
  });

  it('stay, wherever they stand in a Responses list; an order to compact goes to the end', () => {
    const summary = { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' };
    const trigger = { type: 'compaction_trigger' };

    expect(mend('openai-responses', [summary, trigger, user('on')]).body).toEqual([
      summary,
      user('on'),
      trigger,
    ]);
  });
});

describe('items of the Responses API', () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
  const said = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'so' }],
  };

  it('a thought without the item that followed it goes', () => {
    expect(mend('openai-responses', [user('go'), thought, user('on')]).body).toEqual([
      user('go'),
      user('on'),
    ]);
  });

  it('an item without its thought loses the id that asks for it', () => {
    const { id: _id, ...free } = said;

    expect(mend('openai-responses', [user('go'), said], 'gpt-5').body).toEqual([user('go'), free]);
    expect(mend('openai-responses', [user('go'), thought, said], 'gpt-5').repairs).toEqual([]);
  });

  it('ids that the server never gave out, and ids used twice, are left out', () => {
    const foreign = { ...said, id: 'my-own' };
    const other = { ...said, content: [{ type: 'output_text', text: 'well' }] };

    expect(mend('openai-responses', [user('go'), foreign, said, other, said]).repairs).toEqual([
      '2 × item id that the provider refuses: removed',
      '1 × copy of an item: left out',
    ]);
  });
});

it('calls of Gemini 3 in the current turn get a signature', () => {
  const list = [
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
  ];

  expect(mend('gemini', list).repairs).toEqual([]);
  expect(JSON.stringify(mend('gemini', list, 'gemini-3-pro').body)).toContain('thoughtSignature');
});

it('an open tool part of a UI message fails in its place', () => {
  const part = { type: 'tool-f', toolCallId: 'c1', state: 'input-available', input: {} };
  const { body } = mend('ai-sdk-ui', [{ id: 'a', role: 'assistant', parts: [part] }]);

  expect(body).toMatchObject([{ id: 'a', parts: [{ state: 'output-error' }] }]);
});

it('what the server may hold the other half of is not paired', () => {
  const output = { type: 'function_call_output', call_id: 'c1', output: '42' };

  expect(mend('openai-responses', { previous_response_id: 'resp_1', input: [output] }).repairs).toEqual([]);
});

it('takes time in proportion to the list', () => {
  const turn = (index: number) => [assistant([call('same', `${index}`)]), user([result('same')])];
  const list = [user('go'), ...Array.from({ length: 20_000 }, (_, index) => turn(index)).flat()];
  const start = performance.now();
  mend('anthropic-messages', list);

  expect(performance.now() - start).toBeLessThan(10_000);
});
