import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { Script } from '../../src/simulator/script.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ now: () => 0, ...options });
  running.push(simulator);
  return {
    simulator,
    anthropic: new Anthropic({ apiKey: 'test', baseURL: simulator.url, maxRetries: 0 }),
    openai: new OpenAI({ apiKey: 'test', baseURL: `${simulator.url}/v1`, maxRetries: 0 }),
  };
}

const says = (text: string): Script => {
  return () => ({
    parts: [
      { type: 'text', text },
      { type: 'tool-call', name: 'read', input: {} },
    ],
  });
};
const user = (content: string) => ({ role: 'user' as const, content });
const claude = { model: 'claude-opus-4-5', max_tokens: 500, messages: [user('Go.')] };
const gpt = { model: 'gpt-4o', messages: [user('Go.')] };
const chatTools = [{ type: 'function' as const, function: { name: 'read', parameters: {} } }];

describe('stop sequences', () => {
  it.each([
    { title: 'ends before it', text: 'one END two', stop: ['END'], said: 'one ', sequence: 'END' },
    {
      title: 'the first in the text wins',
      text: 'one B two A',
      stop: ['A', 'B'],
      said: 'one ',
      sequence: 'B',
    },
    { title: 'inside of a word', text: 'unbendable', stop: ['END', 'bend'], said: 'un', sequence: 'bend' },
    { title: 'nothing is left', text: 'END of it', stop: ['END'], said: undefined, sequence: 'END' },
    { title: 'it does not occur', text: 'one two', stop: ['END'], said: 'one two', sequence: undefined },
  ])('$title', async ({ text, stop, said, sequence }) => {
    const { anthropic, openai } = await start({ script: says(text) });
    const tools = [{ name: 'read', input_schema: { type: 'object' as const } }];

    const message = await anthropic.messages.create({ ...claude, tools, stop_sequences: stop });
    const completion = await openai.chat.completions.create({ ...gpt, tools: chatTools, stop });

    const [first] = message.content.filter((block) => block.type === 'text');
    const choice = completion.choices[0]!;
    expect(first?.text).toBe(said);
    expect(choice.message.content).toBe(said ?? '');
    const expected =
      sequence === undefined ? ['tool_use', null, 'tool_calls', 1] : ['stop_sequence', sequence, 'stop', 0];
    const calls = (choice.message.tool_calls ?? []).length;
    expect([message.stop_reason, message.stop_sequence, choice.finish_reason, calls]).toEqual(expected);
  });

  it('come too late when the output limit is reached before', async () => {
    const { anthropic } = await start({ script: says(`${'tide '.repeat(500)}END`) });

    const message = await anthropic.messages.create({ ...claude, max_tokens: 20, stop_sequences: ['END'] });

    expect([message.stop_reason, message.stop_sequence]).toEqual(['max_tokens', null]);
  });

  it('are told by a stream as well, and one text is a list of one', async () => {
    const { anthropic, openai } = await start({ script: says('one END two') });

    const message = await anthropic.messages.stream({ ...claude, stop_sequences: ['END'] }).finalMessage();
    const completion = await openai.chat.completions.create({ ...gpt, stop: 'END' });

    expect(message).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one ' } });
  });

  it('may be four', async () => {
    const { openai } = await start();

    await expect(
      openai.chat.completions.create({ ...gpt, stop: ['1', '2', '3', '4', '5'] }),
    ).rejects.toMatchObject({
      status: 400,
      code: 'array_above_max_length',
      param: 'stop',
    });
  });
});

describe('several answers to one request', () => {
  const numbered: Script = ({ choice }) => ({
    parts: [{ type: 'text', text: `This is answer ${choice}, in pieces.` }],
  });

  it('are counted together, and the prompt once', async () => {
    const { openai, simulator } = await start({ script: numbered });

    const one = await openai.chat.completions.create(gpt);
    const three = await openai.chat.completions.create({ ...gpt, n: 3 });

    expect(three.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, 'This is answer 0, in pieces.'],
      [1, 'This is answer 1, in pieces.'],
      [2, 'This is answer 2, in pieces.'],
    ]);
    expect(three.usage?.prompt_tokens).toBe(one.usage?.prompt_tokens);
    expect(three.usage?.completion_tokens).toBe(3 * one.usage!.completion_tokens);
    expect(simulator.requests[1]?.outputTokens).toBe(three.usage?.completion_tokens);
  });

  it('come mixed in a stream, and are the same', async () => {
    const { openai } = await start({ script: numbered, chunking: 'hostile' });
    const request = { ...gpt, n: 3 };

    const plain = await openai.chat.completions.create(request);
    const stream = openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    const order: number[] = [];
    for await (const { choices } of stream) order.push(...choices.map(({ index }) => index));
    const { choices, usage } = await stream.finalChatCompletion();

    expect(choices.map(({ message }) => message.content)).toEqual(
      plain.choices.map(({ message }) => message.content),
    );
    expect(usage).toEqual({ ...plain.usage, prompt_tokens_details: usage?.prompt_tokens_details });
    expect(order.slice(0, 4)).toEqual([0, 1, 2, 0]);
  });

  it.each([
    { n: 0, code: 'integer_below_min_value' },
    { n: 129, code: 'integer_above_max_value' },
    { n: 1.5, code: 'invalid_type' },
  ])('are refused as $n', async ({ n, code }) => {
    const { openai } = await start();

    await expect(openai.chat.completions.create({ ...gpt, n })).rejects.toMatchObject({
      status: 400,
      code,
      param: 'n',
    });
  });
});

describe('compaction by OpenAI', () => {
  const page = 'The tide comes in. '.repeat(200);
  const call = { type: 'function_call' as const, call_id: 'call_1', name: 'read', arguments: '{}' };
  const output = { type: 'function_call_output' as const, call_id: 'call_1', output: page };
  const input = [user('Read it.'), call, output, user('And now?')];

  it('on demand gives the user’s messages and one sealed item, to go on with', async () => {
    const { openai, simulator } = await start();
    const before = await openai.responses.create({ model: 'gpt-5', input, store: false });

    const compacted = await openai.responses.compact({ model: 'gpt-5', input });

    expect(compacted.object).toBe('response.compaction');
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
    expect(JSON.stringify(compacted.output)).toContain('Read it.');
    expect(JSON.stringify(compacted.output)).not.toContain('tide');
    expect(compacted.usage.input_tokens).toBe(before.usage?.input_tokens);
    expect(compacted.usage.total_tokens).toBe(compacted.usage.input_tokens + compacted.usage.output_tokens);
    expect(simulator.requests[1]).toMatchObject({ path: '/v1/responses/compact', status: 200 });

    const after = await openai.responses.create({
      model: 'gpt-5',
      input: [...(compacted.output as OpenAI.Responses.ResponseInputItem[]), user('Go on.')],
      store: false,
    });
    expect(after.status).toBe('completed');
    expect(after.usage!.input_tokens).toBeLessThan(before.usage!.input_tokens / 2);
  });

  it('goes on from a stored response', async () => {
    const { openai } = await start();
    const first = await openai.responses.create({ model: 'gpt-5', input });

    const compacted = await openai.responses.compact({ model: 'gpt-5', previous_response_id: first.id });

    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction']);
  });

  it.each([
    {
      title: 'an item that was changed',
      change: (id: string) => `${id}0`,
      rule: 'encrypted-content-invalid',
    },
    { title: 'an id of another kind', change: () => 'rs_1', rule: 'malformed-item-id' },
  ])('refuses $title', async ({ change, rule }) => {
    const { openai, simulator } = await start();
    const compacted = await openai.responses.compact({ model: 'gpt-5', input });
    const changed = compacted.output.map((item) =>
      item.type === 'compaction' ? { ...item, id: change(item.id) } : item,
    ) as OpenAI.Responses.ResponseInputItem[];

    const refused = openai.responses.create({
      model: 'gpt-5',
      input: [...changed, user('Go on.')],
      store: false,
    });

    await expect(refused).rejects.toMatchObject({ status: 400 });
    expect(simulator.requests.at(-1)?.rule).toBe(rule);
  });

  it('holds a request on demand to the same rules, and knows no stream', async () => {
    const { openai } = await start({ windowTokens: 300 });

    await expect(openai.responses.compact({ model: 'gpt-5', input: [call] })).rejects.toMatchObject({
      status: 400,
    });
    await expect(openai.responses.compact({ model: 'gpt-5', input })).rejects.toMatchObject({
      code: 'context_length_exceeded',
    });
    const streamed = openai.post('/responses/compact', {
      body: { model: 'gpt-5', input: 'Go.', stream: true },
    });
    await expect(streamed).rejects.toMatchObject({ code: 'unknown_parameter', param: 'stream' });
  });

  it.each([
    { threshold: 100, isDue: true },
    { threshold: 100_000, isDue: false },
  ])('at a threshold of $threshold comes before the answer: $isDue', async ({ threshold, isDue }) => {
    const { openai } = await start();
    const request = {
      model: 'gpt-5',
      input,
      store: false,
      context_management: [{ type: 'compaction', compact_threshold: threshold }],
    };

    const response = await openai.responses.create(request);
    expect(response.output.map(({ type }) => type)).toEqual([
      ...(isDue ? ['compaction'] : []),
      'reasoning',
      'message',
    ]);

    const history = [...input, ...response.output, user('Go on.')] as OpenAI.Responses.ResponseInputItem[];
    const after = await openai.responses.create({ model: 'gpt-5', input: history, store: false });
    const isSmaller = after.usage!.input_tokens < response.usage!.input_tokens;
    expect(isSmaller).toBe(isDue);
    const newest = history.findLastIndex((item) => 'type' in item && item.type === 'compaction');
    const kept = await openai.responses.create({
      model: 'gpt-5',
      input: history.slice(Math.max(0, newest)),
      store: false,
    });
    expect(kept.usage!.input_tokens).toBeLessThanOrEqual(after.usage!.input_tokens);
  });

  it('is announced in a stream, which is the whole response', async () => {
    const { openai } = await start({ chunking: 'hostile' });
    const { openai: other } = await start();
    const request = {
      model: 'gpt-5',
      input,
      store: false,
      context_management: [{ type: 'compaction', compact_threshold: 100 }],
    };

    const plain = await other.responses.create(request);
    const stream = await openai.responses.create({ ...request, stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);

    const types = events.map(({ type }) => type);
    expect(types.slice(2, 5)).toEqual([
      'response.output_item.added',
      'response.compaction.compacting',
      'response.output_item.done',
    ]);
    const { output_text: _text, ...whole } = plain;
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: whole });
  });

  it('is forced by a trigger at the end of the input, without asking the script', async () => {
    const { openai } = await start({
      script: () => {
        throw new Error('nobody is to be asked');
      },
    });
    const trigger = { type: 'compaction_trigger' as const };

    const response = await openai.responses.create({
      model: 'gpt-5',
      input: [...input, trigger],
      store: false,
    });

    expect(response.output.map(({ type }) => type)).toEqual(['compaction']);
    const misplaced = openai.responses.create({ model: 'gpt-5', input: [trigger, ...input], store: false });
    await expect(misplaced).rejects.toMatchObject({ status: 400 });
  });

  it('is the only way to manage the context', async () => {
    const { openai } = await start();
    const request = {
      model: 'gpt-5',
      input,
      context_management: [{ type: 'compaction' }, { type: 'forget' }],
    };

    await expect(openai.responses.create(request)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'context_management[1].type',
    });
  });

  it('counts what a request would be', async () => {
    const { openai } = await start();
    const response = await openai.responses.create({ model: 'gpt-5', input });

    expect(await openai.responses.inputTokens.count({ model: 'gpt-5', input })).toEqual({
      object: 'response.input_tokens',
      input_tokens: response.usage?.input_tokens,
    });
  });
});

describe('compaction by Anthropic at a threshold', () => {
  const page = 'The tide comes in. '.repeat(12_000);
  const betas = ['compact-2026-01-12'];
  const edit = {
    type: 'compact_20260112' as const,
    trigger: { type: 'input_tokens' as const, value: 50_000 },
  };
  const request = {
    model: 'claude-opus-5-5',
    max_tokens: 500,
    thinking: { type: 'adaptive' as const },
    betas,
    messages: [user(page), { role: 'assistant' as const, content: 'So it does.' }, user('And now?')],
  };
  const managed = (changes: object = {}) => ({
    ...request,
    context_management: { edits: [{ ...edit, ...changes }] },
  });

  it('comes before the answer, and only the answer counts at the top of the usage', async () => {
    const { anthropic, simulator } = await start();

    const message = await anthropic.beta.messages.create(managed());

    expect(message.content.map(({ type }) => type)).toEqual(['compaction', 'thinking', 'text']);
    expect(message.stop_reason).toBe('end_turn');
    const [made, said] = message.usage.iterations!;
    expect(made).toMatchObject({ type: 'compaction', input_tokens: simulator.requests[0]!.promptTokens });
    expect(said).toMatchObject({ type: 'message', input_tokens: message.usage.input_tokens });
    expect(message.usage.input_tokens).toBeLessThan(1000);
  });

  it.each([
    { title: 'with everything before it', from: 0 },
    { title: 'alone', from: 3 },
  ])(
    'makes what stands before it count for nothing, thinking behind it included: $title',
    async ({ from }) => {
      const { anthropic, simulator } = await start();
      const { content } = await anthropic.beta.messages.create(managed());
      const answered = { role: 'assistant' as const, content } as Anthropic.Beta.BetaMessageParam;
      const messages = [...request.messages, answered, user('Go on.')].slice(from);

      const after = await anthropic.beta.messages.create({ ...managed(), messages });

      expect(after.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
      expect(simulator.requests[1]!.promptTokens).toBeLessThan(1000);
    },
  );

  it('waits where the request wants to look at it first', async () => {
    const { anthropic } = await start();

    const message = await anthropic.beta.messages.create(managed({ pause_after_compaction: true }));

    expect(message.content.map(({ type }) => type)).toEqual(['compaction']);
    expect(message).toMatchObject({
      stop_reason: 'compaction',
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  it('is not due below its threshold, which is 150,000 by itself', async () => {
    const { anthropic } = await start();

    const message = await anthropic.beta.messages.create(managed({ trigger: undefined }));

    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });

  it('stands for nothing when it has failed', async () => {
    const { anthropic, simulator } = await start();
    const failed = { type: 'compaction' as const, content: null, encrypted_content: null };
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, content: [failed, { type: 'text' as const, text: 'Yes.' }] },
      user('Go on.'),
    ];

    await anthropic.beta.messages.create({ ...request, messages });

    expect(simulator.requests[0]!.promptTokens).toBeGreaterThan(50_000);
  });

  it('is streamed as the same message', async () => {
    const { anthropic } = await start({ chunking: 'hostile' });
    const { anthropic: other } = await start();

    const streamed = await anthropic.beta.messages.stream(managed()).finalMessage();

    const plain = await other.beta.messages.create(managed());
    expect(streamed.content).toEqual(plain.content);
    expect(streamed.usage.iterations).toEqual(plain.usage.iterations);
  });

  it('needs its header', async () => {
    const { anthropic } = await start();

    await expect(anthropic.beta.messages.create({ ...managed(), betas: [] })).rejects.toMatchObject({
      status: 400,
    });
  });
});
