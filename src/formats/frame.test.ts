import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { groupRounds } from '../conversation/rounds.ts';
import { findFormat, formats } from './registry.ts';

type Id = string | undefined;

/** How a format writes a question, an answer that calls a tool, the result of the call, and a mere answer. */
interface Writing {
  readonly format: string;
  readonly user: unknown;
  call(response: Id, call: string): unknown;
  result(call: string): unknown;
  answer(response: Id): unknown;
}

const named = (key: string, id: Id) => (id === undefined ? {} : { [key]: id });

const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } });

/** Every way in which a format names the response that a message is a record of. */
const writings: readonly (Writing & { readonly where: string })[] = [
  {
    where: 'the id of an Anthropic message',
    format: 'anthropic-messages',
    user: { role: 'user', content: 'go' },
    call: (id, call) => ({
      role: 'assistant',
      ...named('id', id),
      content: [{ type: 'tool_use', id: call, name: 'read', input: {} }],
    }),
    result: (call) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: 'r' }] }),
    answer: (id) => ({ role: 'assistant', ...named('id', id), content: 'done' }),
  },
  {
    where: 'the id of a chat message',
    format: 'openai-chat',
    user: { role: 'user', content: 'go' },
    call: (id, call) => ({
      role: 'assistant',
      ...named('id', id),
      content: null,
      tool_calls: [chatCall(call)],
    }),
    result: (call) => ({ role: 'tool', tool_call_id: call, content: 'r' }),
    answer: (id) => ({ role: 'assistant', ...named('id', id), content: 'done' }),
  },
  {
    where: 'the responseId of a Gemini content',
    format: 'gemini',
    user: { role: 'user', parts: [{ text: 'go' }] },
    call: (id, call) => ({
      role: 'model',
      ...named('responseId', id),
      parts: [{ functionCall: { id: call, name: 'read', args: {} } }],
    }),
    result: (call) => ({
      role: 'user',
      parts: [{ functionResponse: { id: call, name: 'read', response: {} } }],
    }),
    answer: (id) => ({ role: 'model', ...named('responseId', id), parts: [{ text: 'done' }] }),
  },
  {
    where: 'the id of an AI SDK model message',
    format: 'ai-sdk-model',
    user: { role: 'user', content: 'go' },
    call: (id, call) => ({
      role: 'assistant',
      ...named('id', id),
      content: [{ type: 'tool-call', toolCallId: call, toolName: 'read', input: {} }],
    }),
    result: (call) => ({
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: call, toolName: 'read', output: { type: 'text', value: 'r' } },
      ],
    }),
    answer: (id) => ({ role: 'assistant', ...named('id', id), content: 'done' }),
  },
  ...(['plain', 'stored', 'constructor'] as const).flatMap((form) =>
    (['id', 'response_metadata.id'] as const).map((where) => langchainWriting(form, where)),
  ),
];

function langchainWriting(form: 'plain' | 'stored' | 'constructor', where: 'id' | 'response_metadata.id') {
  const write = (type: string, fields: object) => {
    if (form === 'plain') return { type, ...fields };
    if (form === 'stored') return { type, data: fields };
    const className = { human: 'HumanMessage', ai: 'AIMessage', tool: 'ToolMessage' }[type];
    return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', className], kwargs: fields };
  };
  const idFields = (id: Id) => (where === 'id' ? named('id', id) : { response_metadata: named('id', id) });
  return {
    where: `the ${where} of a LangChain message (${form})`,
    format: 'langchain',
    user: write('human', { content: 'go', id: 'h1' }),
    call: (id: Id, call: string) =>
      write('ai', { ...idFields(id), content: '', tool_calls: [{ id: call, name: 'read', args: {} }] }),
    result: (call: string) => write('tool', { tool_call_id: call, content: 'r', id: `t-${call}` }),
    answer: (id: Id) => write('ai', { ...idFields(id), content: 'done' }),
  };
}

function roundsOf(format: string, list: readonly unknown[]): readonly string[] {
  const { messages } = findFormat(format)!.read(deepFreeze(list));
  return groupRounds(messages).map(({ start, end, responseId }) => `${start}-${end} ${responseId ?? ''}`);
}

describe.each(writings)('$where', ({ format, user, call, result, answer }) => {
  it('opens a round with every other response, even where answers stand side by side', () => {
    const list = [user, answer('r1'), answer('r2'), call('r3', 'a'), result('a'), answer('r4')];

    expect(roundsOf(format, list)).toEqual(['0-1 ', '1-2 r1', '2-3 r2', '3-5 r3', '5-6 r4']);
  });

  it('keeps one response together, though results stand between its records', () => {
    const list = [user, call('r1', 'a'), result('a'), call('r1', 'b'), result('b'), answer('r2')];

    expect(roundsOf(format, list)).toEqual(['0-1 ', '1-5 r1', '5-6 r2']);
  });

  it('counts for nothing where it is empty', () => {
    const list = [user, call('', 'a'), result('a'), call('', 'b'), result('b'), answer('')];

    expect(roundsOf(format, list)).toEqual(['0-1 ', '1-3 ', '3-5 ', '5-6 ']);
  });
});

describe('messages whose ids name something else', () => {
  it('of the Responses API: items of one response have different ids and stay in one round', () => {
    const list = [
      { role: 'user', content: 'go' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'so' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'read', arguments: '{}' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'a', output: 'r' },
      { type: 'message', role: 'assistant', id: 'msg_2', content: [{ type: 'output_text', text: 'done' }] },
    ];

    expect(roundsOf('openai-responses', list)).toEqual(['0-1 ', '1-5 ', '5-6 ']);
  });

  it('of the AI SDK’s chats: an answer with all its steps has one id, a question never opens a round', () => {
    const list = [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { id: 'm1', role: 'assistant', parts: [{ type: 'text', text: 'one' }] },
      { id: 'm2', role: 'assistant', parts: [{ type: 'text', text: 'two' }] },
    ];

    expect(roundsOf('ai-sdk-ui', list)).toEqual(['0-1 ', '1-2 m1', '2-3 m2']);
  });
});

it.each(formats)('$name reads its list from `$listKey`, and writes another to the same place', (format) => {
  const list: readonly unknown[] = deepFreeze([]);
  const conversation = format.read({ [format.listKey]: list, extra: 1 });
  const changed = format.replaceList(conversation.frame, [{ role: 'user', content: 'hi' }]);

  expect(conversation.frame.list).toBe(list);
  expect(changed).toMatchObject({ [format.listKey]: [{ role: 'user', content: 'hi' }], extra: 1 });
});
