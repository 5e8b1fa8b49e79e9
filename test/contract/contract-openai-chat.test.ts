import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { openaiChatContract } from '../../src/contracts/registry.ts';
import { countReads } from '../support/count-reads.ts';

const { check } = openaiChatContract;

function userTurn(content: unknown = 'hello') {
  return { role: 'user', content };
}

function calls(...ids: readonly string[]) {
  return {
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'probe', arguments: '{}' } })),
  };
}

function answers(...ids: readonly string[]) {
  return ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
}

function rulesOf(body: unknown, context = {}): readonly string[] {
  return check(body, context).map(({ rule, path }) => `${rule} ${path}`);
}

describe('openai-chat rules', () => {
  it.each([
    { why: 'a number as body', body: 7, found: ['wrong-kind-of-value body'] },
    { why: 'a list as body', body: [], found: ['wrong-kind-of-value body'] },
    { why: 'no messages', body: {}, found: ['missing-field messages'] },
    { why: 'messages that are no list', body: { messages: 'hi' }, found: ['wrong-kind-of-value messages'] },
    {
      why: 'a message that is no object',
      body: { messages: [null] },
      found: ['wrong-kind-of-value messages[0]'],
    },
    { why: 'a message without a role', body: { messages: [{}] }, found: ['missing-field messages[0].role'] },
    {
      why: 'an unknown role',
      body: { messages: [{ role: 'human' }] },
      found: ['unknown-role messages[0].role'],
    },
    {
      why: 'content of a wrong type',
      body: { messages: [userTurn(3)] },
      found: ['wrong-kind-of-value messages[0].content'],
    },
    {
      why: 'a part without a type',
      body: { messages: [userTurn([{}])] },
      found: ['missing-field messages[0].content[0].type'],
    },
    {
      why: 'an empty list of calls',
      body: { messages: [{ role: 'assistant', content: null, tool_calls: [] }] },
      found: ['empty-tool-call-list messages[0].tool_calls'],
    },
    {
      why: 'arguments that are an object',
      body: {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'probe', arguments: {} } }] },
          ...answers('call_1'),
        ],
      },
      found: ['wrong-kind-of-value messages[0].tool_calls[0].function.arguments'],
    },
    {
      why: 'an answer without an id, and nothing about the call it may belong to',
      body: { messages: [calls('call_1'), { role: 'tool', content: 'done' }] },
      found: ['missing-field messages.[1].tool_call_id'],
    },
    {
      why: 'a function message without a name',
      body: { messages: [{ role: 'function', content: 'done' }] },
      found: ['missing-field messages.[0].name'],
    },
    {
      why: 'an image in a tool message',
      body: {
        messages: [
          calls('call_1'),
          { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'image_url', image_url: { url: 'x' } }] },
        ],
      },
      found: ['image-outside-user-message messages[1]'],
    },
    {
      why: 'every fault, in order of place',
      body: {
        messages: [...answers('call_0'), calls('call_1'), userTurn(null), calls('call_2')],
        tools: [{ type: 'function', function: { name: 'no spaces' } }],
      },
      found: [
        'malformed-tool-name tools[0].function.name',
        'tool-result-without-call messages.[0].role',
        'tool-call-without-result messages.[2].role',
        'missing-content messages.[2].content',
        'tool-call-without-result messages',
      ],
    },
  ])('reports $why', ({ body, found }) => {
    expect(rulesOf(body)).toEqual(found);
  });

  it.each([
    { why: 'answers in any order', messages: [calls('a', 'b', 'c'), ...answers('c', 'a', 'b')] },
    {
      why: 'the same id in two rounds',
      messages: [calls('a'), ...answers('a'), calls('a'), ...answers('a')],
    },
    { why: 'two calls with one id and two answers', messages: [calls('a', 'a'), ...answers('a', 'a')] },
    { why: 'null where a field is optional', messages: [{ ...userTurn(), tool_calls: null, name: null }] },
    {
      why: 'an assistant message as the last one',
      messages: [userTurn(), { role: 'assistant', content: 'ok' }],
    },
  ])('accepts $why', ({ messages }) => {
    expect(rulesOf({ messages })).toEqual([]);
  });

  it('leaves the frame out when only the messages are known, and takes them as a bare list', () => {
    const messages = [userTurn()];
    const frame = { model: 'o3', max_tokens: 9, tools: [{ function: { name: 'no spaces' } }] };

    expect(rulesOf({ ...frame, messages })).toHaveLength(2);
    expect(rulesOf({ ...frame, messages }, { scope: 'messages' })).toEqual([]);
    expect(rulesOf([...messages, ...answers('a')], { scope: 'messages' })).toEqual([
      'tool-result-without-call messages.[1].role',
    ]);
  });

  it('holds only OpenAI to the limits of OpenAI', () => {
    const id = 'x'.repeat(41);
    const body = { messages: [calls(id), ...answers(id)] };

    expect(rulesOf(body)).toEqual(['tool-call-id-too-long messages[0].tool_calls[0].id']);
    expect(rulesOf(body, { vendor: 'Azure' })).toHaveLength(1);
    expect(rulesOf(body, { vendor: 'groq' })).toEqual([]);
    expect(rulesOf({ ...body, model: 'kimi-k2' })).toEqual([]);
  });

  it('tells a text that is too long from an id that is', () => {
    const longest = 'x'.repeat(10_485_760);

    expect(rulesOf({ messages: [userTurn(longest)] })).toEqual([]);
    expect(rulesOf({ messages: [userTurn(`${longest}x`)] })).toEqual(['text-too-long messages[0].content']);
    expect(rulesOf({ messages: [userTurn([{ type: 'text', text: `${longest}x` }])] })).toEqual([
      'text-too-long messages[0].content[0].text',
    ]);
  });

  it('holds only Mistral to an assistant message behind the answers and a user or tool message at the end', () => {
    const body = { messages: [userTurn(), calls('abcdefghi'), ...answers('abcdefghi'), userTurn()] };
    const ending = { messages: [userTurn(), { role: 'assistant', content: 'ok' }] };

    expect(rulesOf(body)).toEqual([]);
    expect(rulesOf(body, { vendor: 'mistral' })).toEqual(['role-out-of-order messages[3]']);
    expect(rulesOf(ending, { vendor: 'mistral' })).toEqual(['assistant-message-last messages[1]']);
    expect(rulesOf(ending, { vendor: 'mistral', scope: 'messages' })).toEqual([]);
  });

  it.each(['abcdefgh', 'abcdefghij', 'abcdefgh_'])(
    'holds Mistral call ids to 9 letters and digits: %s',
    (id) => {
      const body = { messages: [userTurn(), calls(id), ...answers(id)] };

      expect(rulesOf(body, { vendor: 'mistral' })).toEqual([
        'malformed-tool-call-id messages[1].tool_calls[0].id',
      ]);
    },
  );
});

describe('openai-chat properties', () => {
  const toolRounds = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });

  function conversation(rounds: readonly number[]): readonly unknown[] {
    return rounds.flatMap((size, round) => {
      const ids = Array.from({ length: size }, (_, position) => `call_${round}_${position}`);
      return [userTurn(), calls(...ids), ...answers(...ids.toReversed())];
    });
  }

  test.prop([toolRounds, fc.nat()])('reports the loss of any one answer', (rounds, pick) => {
    const messages = conversation(rounds);
    const positions = messages.flatMap((message, index) =>
      (message as { role: string }).role === 'tool' ? index : [],
    );
    const lost = positions[pick % positions.length];

    expect(rulesOf({ messages })).toEqual([]);
    expect(check({ messages: messages.filter((_, index) => index !== lost) })).toMatchObject([
      { rule: 'tool-call-without-result' },
    ]);
  });

  test.prop([toolRounds, fc.nat()])('reports the loss of any message that calls', (rounds, pick) => {
    const messages = conversation(rounds);
    const positions = messages.flatMap((message, index) =>
      'tool_calls' in (message as object) ? index : [],
    );
    const lost = positions[pick % positions.length] ?? 0;
    const rest = messages.filter((_, index) => index !== lost);

    expect(new Set(check({ messages: rest }).map(({ rule }) => rule))).toEqual(
      new Set(['tool-result-without-call']),
    );
  });

  it('reads every message a fixed number of times, however long the list is', () => {
    expect(readsPerMessage(2000)).toBeCloseTo(readsPerMessage(200), 0);
  });

  function readsPerMessage(size: number): number {
    const messages = conversation(Array.from({ length: size }, () => 2));
    const reads = countReads({ messages }, (body) => expect(rulesOf(body)).toEqual([]));
    return reads / messages.length;
  }
});
