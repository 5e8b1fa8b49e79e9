import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { openaiResponsesContract } from '../../src/contracts/registry.ts';
import { countReads } from '../support/count-reads.ts';

const { check } = openaiResponsesContract;

function userTurn(content: unknown = 'hello') {
  return { role: 'user', content };
}

function call(id: string, type = 'function_call') {
  return { type, call_id: id, name: 'probe', arguments: '{}' };
}

function output(id: string, type = 'function_call_output') {
  return { type, call_id: id, output: 'done' };
}

function thought(id: string) {
  return { type: 'reasoning', id, summary: [], encrypted_content: 'gAAAsealed' };
}

function rulesOf(input: unknown, context = {}): readonly string[] {
  return check({ input }, context).map(({ rule, path }) => `${rule} ${path}`);
}

describe('openai-responses rules', () => {
  it.each([
    { why: 'a text as body', body: 'hi', found: ['wrong-kind-of-value body'] },
    { why: 'no input', body: { model: 'gpt-5' }, found: ['missing-field input'] },
    { why: 'input of a wrong type', body: { input: 3 }, found: ['wrong-kind-of-value input'] },
    { why: 'an item that is no object', body: { input: ['hi'] }, found: ['wrong-kind-of-value input[0]'] },
    { why: 'an item of no type', body: { input: [{}] }, found: ['missing-field input[0].type'] },
    {
      why: 'a call without an id',
      body: { input: [{ type: 'function_call' }] },
      found: ['missing-field input[0].call_id'],
    },
    {
      why: 'every fault, in order of place',
      body: { input: [output('a'), thought('rs_1'), call('b')], previous_response_id: null },
      found: [
        'tool-result-without-call input[0]',
        'reasoning-without-following-item input[1]',
        'tool-call-without-result input[2]',
      ],
    },
  ])('reports $why', ({ body, found }) => {
    expect(check(body).map(({ rule, path }) => `${rule} ${path}`)).toEqual(found);
  });

  const callKinds = [
    'function_call',
    'custom_tool_call',
    'local_shell_call',
    'shell_call',
    'apply_patch_call',
    'computer_call',
  ];

  it.each(callKinds)('pairs %s with its output by call_id', (type) => {
    const kind = type.replaceAll('_', ' ');

    expect(rulesOf([call('a', type), output('a', `${type}_output`)])).toEqual([]);
    expect(check({ input: [call('a', type)] })[0]?.message).toBe(`No tool output found for ${kind} a.`);
    expect(check({ input: [output('a', `${type}_output`)] })[0]?.message).toBe(
      `No tool call found for ${kind} output with call_id a.`,
    );
  });

  it.each([
    { why: 'a text as input', input: 'hello' },
    { why: 'a call the server runs', input: [{ ...call('tsc_1', 'tool_search_call'), execution: 'server' }] },
    {
      why: 'a thought without an id before an item without one',
      input: [{ ...thought(''), id: undefined }, call('a'), output('a')],
    },
    {
      why: 'ids the server did not give on thoughts',
      input: [{ ...thought('rs-a'), summary: [] }, call('a'), output('a')],
    },
    {
      why: 'a thought before a referenced item',
      input: [thought('rs_1'), { type: 'item_reference', id: 'msg_1' }],
    },
    {
      why: 'a thought before a hosted search',
      input: [thought('rs_1'), { type: 'web_search_call', id: 'ws_1' }],
    },
    {
      why: 'an older shell answer that repeats the item id of its call',
      input: [
        { ...call('a', 'local_shell_call'), id: 'lsh_1' },
        { type: 'local_shell_call_output', id: 'lsh_1', output: 'done' },
      ],
    },
    { why: 'an unknown item', input: [{ type: 'holographic_call', call_id: 'a', id: 'x' }] },
  ])('accepts $why', ({ input }) => {
    expect(rulesOf(input)).toEqual([]);
  });

  it.each(['previous_response_id', 'conversation'])('holds no output against a request with %s', (field) => {
    expect(check({ [field]: 'resp_1', input: [output('a')] })).toEqual([]);
    expect(check({ [field]: null, input: [output('a')] })).toHaveLength(1);
  });

  it.each([
    { model: 'o4-mini', missed: 1 },
    { model: 'gpt-5-mini', missed: 1 },
    { model: 'gpt-5-chat-latest', missed: 0 },
    { model: 'gpt-5.4', missed: 0 },
    { model: 'gpt-4o', missed: 0 },
    { model: undefined, missed: 0 },
  ])('misses $missed thoughts before an item of $model', ({ model, missed }) => {
    const input = [userTurn(), { type: 'message', id: 'msg_1', role: 'assistant', content: [] }, userTurn()];

    expect(check({ input, ...(model === undefined ? {} : { model }) })).toHaveLength(missed);
  });

  it('names one item per lost thought, not every item behind it', () => {
    const input = [
      userTurn(),
      { ...call('a'), id: 'fc_1' },
      { ...call('b'), id: 'fc_2' },
      output('a'),
      output('b'),
    ];

    expect(check({ input, model: 'o3' }).map(({ path }) => path)).toEqual(['input[1]']);
  });

  it('leaves the rules about ids and thoughts to OpenAI', () => {
    const input = [thought('rs_1'), { ...call('a'), id: 'x' }, output('a'), thought('rs_1')];

    expect(rulesOf(input, { vendor: 'openai' })).toEqual([
      'malformed-item-id input[1].id',
      'duplicate-item-id input[3]',
      'reasoning-without-following-item input[3]',
    ]);
    expect(rulesOf(input, { vendor: 'deepseek' })).toEqual([]);
    expect(check({ input, model: 'deepseek-v4-flash' })).toEqual([]);
  });

  it.each([
    {
      why: 'outputs behind the whole batch',
      input: [call('a'), call('b'), output('b'), output('a')],
      found: [],
    },
    {
      why: 'a thought inside the batch',
      input: [call('a'), thought('rs-1'), call('b'), output('a'), output('b')],
      found: ['tool-call-without-result input[0]'],
    },
    {
      why: 'a message among the outputs',
      input: [call('a'), call('b'), output('a'), userTurn(), output('b')],
      found: ['tool-call-without-result input[1]'],
    },
    {
      why: 'a late output behind the next call',
      input: [call('a'), call('b'), output('a'), call('c'), output('b'), output('c')],
      found: ['tool-call-without-result input[1]'],
    },
    { why: 'an output of no call', input: [output('a')], found: ['tool-result-without-call input[0]'] },
  ])('on DeepSeek judges $why', ({ input, found }) => {
    expect(rulesOf(input, { vendor: 'deepseek' })).toEqual(found);
  });

  it('leaves the frame out when only the items are known, and takes them as a bare list', () => {
    const frame = { prompt_cache_options: {}, prompt_cache_retention: '24h', previous_response_id: 'resp_1' };
    const context = { scope: 'messages', stored: () => false } as const;

    expect(check({ ...frame, input: [] }, { stored: () => false })).toHaveLength(2);
    expect(check({ ...frame, input: [] }, context)).toEqual([]);
    expect(check([output('a')], context).map(({ rule }) => rule)).toEqual(['tool-result-without-call']);
  });
});

describe('openai-responses properties', () => {
  const rounds = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });

  function conversation(sizes: readonly number[]): readonly object[] {
    return sizes.flatMap((size, round) => {
      const ids = Array.from({ length: size }, (_, position) => `call_${round}_${position}`);
      return [
        userTurn(),
        thought(`rs_${round}`),
        ...ids.map((id) => ({ ...call(id), id: `fc_${id}` })),
        ...ids.toReversed().map((id) => output(id)),
      ];
    });
  }

  /** What the loss of one item of each type is reported as; user messages may go. */
  const losses = new Map([
    ['function_call_output', ['tool-call-without-result']],
    ['reasoning', ['item-without-reasoning']],
    [undefined, []],
  ]);

  test.prop([rounds, fc.nat()])('reports the loss of any item that another one needs', (sizes, pick) => {
    const input = conversation(sizes);
    const lost = pick % input.length;
    const { type } = input[lost] as { type?: string };
    const found = check({ input: input.filter((_, index) => index !== lost), model: 'o3' }).map(
      ({ rule }) => rule,
    );

    expect(check({ input, model: 'o3' })).toEqual([]);
    if (type === 'function_call') expect(found).toContain('tool-result-without-call');
    else expect(found).toEqual(losses.get(type));
  });

  it.each([undefined, 'deepseek'])(
    'reads every item a fixed number of times, however long the list is (%s)',
    (vendor) => {
      expect(readsPerItem(2000, vendor)).toBeCloseTo(readsPerItem(200, vendor), 0);
    },
  );

  function readsPerItem(size: number, vendor: string | undefined): number {
    const items = conversation(Array.from({ length: size }, () => 2));
    const reads = countReads(items, (input) => expect(rulesOf(input, { vendor, model: 'o3' })).toEqual([]));
    return reads / items.length;
  }
});
