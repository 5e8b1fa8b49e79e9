import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { parseOverflow } from '../../src/formats/overflow/detect.ts';
import { createEventSplitter, type StreamEvent } from '../../src/providers/event-stream.ts';
import { type FaultName, faultKinds } from '../../src/simulator/faults.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { fixtureTitle, type WireFixture } from '../fixtures/wire/fixture.ts';
import { fixtureLists } from '../fixtures/wire/fixture-lists.ts';

type Json = Readonly<Record<string, unknown>>;

const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator(options);
  running.push(simulator);
  return simulator;
}

const paths = {
  'anthropic-messages': '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
} as const;
type FormatName = keyof typeof paths;
const formatNames = Object.keys(paths) as FormatName[];

const keys = {
  'x-api-key': 'sk-test-secret',
  authorization: 'Bearer sk-test-secret',
  'anthropic-version': '2023-06-01',
};

function post(
  simulator: Simulator,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  return fetch(`${simulator.url}${path}`, {
    method: 'POST',
    headers: { ...keys, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

async function ask(
  simulator: Simulator,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const response = await post(simulator, path, body, headers);
  return { ...((await response.json()) as Json), status_code: response.status };
}

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const;

/** The same question with one tool, in every format. */
const questions: Readonly<Record<FormatName, Json>> = {
  'anthropic-messages': {
    model: 'claude-opus-5-5',
    max_tokens: 1000,
    messages: [{ role: 'user', content: 'Which tides does Brest have?' }],
    tools: [{ name: 'read_file', input_schema: schema }],
  },
  'openai-chat': {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Which tides does Brest have?' }],
    tools: [{ type: 'function', function: { name: 'read_file', parameters: schema } }],
  },
  'openai-responses': {
    model: 'gpt-5',
    input: [{ role: 'user', content: 'Which tides does Brest have?' }],
    tools: [{ type: 'function', name: 'read_file', parameters: schema, strict: false }],
  },
};

async function readEvents(response: Response): Promise<readonly StreamEvent[]> {
  const splitter = createEventSplitter();
  const events: StreamEvent[] = [];
  for await (const chunk of response.body!) events.push(...splitter.push(chunk));
  return [...events, ...splitter.end()];
}

const dataOf = ({ data }: StreamEvent): Json => JSON.parse(data) as Json;

function addDelta(block: Record<string, unknown>, delta: Readonly<Record<string, string>>): void {
  for (const field of ['text', 'thinking', 'signature']) {
    if (field in delta) block[field] = `${block[field]}${delta[field]}`;
  }
}

/** What a client makes of each stream, written here once more and by hand. */
const assemblers: Readonly<Record<FormatName, (events: readonly StreamEvent[]) => Json>> = {
  'anthropic-messages'(events) {
    let message: Json = {};
    const content: Record<string, unknown>[] = [];
    const partial: string[] = [];
    for (const event of events.map(dataOf)) {
      const index = event['index'] as number;
      const delta = event['delta'] as Record<string, string>;
      if (event['type'] === 'message_start') message = event['message'] as Json;
      if (event['type'] === 'content_block_start') content[index] = { ...(event['content_block'] as Json) };
      if (event['type'] === 'content_block_delta') addDelta(content[index]!, delta);
      if (event['type'] === 'content_block_delta')
        partial[index] = `${partial[index] ?? ''}${delta['partial_json'] ?? ''}`;
      if (event['type'] === 'message_delta') message = { ...message, ...delta, usage: event['usage'] };
    }
    const whole = content.map((block, index) =>
      block['type'] === 'tool_use' ? { ...block, input: JSON.parse(partial[index]!) as unknown } : block,
    );
    return { ...message, content: whole };
  },
  'openai-chat'(events) {
    expect(events.at(-1)!.data).toBe('[DONE]');
    const chunks = events.slice(0, -1).map(dataOf);
    const message: Record<string, unknown> = {};
    const calls: { function: { arguments: string } }[] = [];
    let finish: unknown;
    for (const chunk of chunks) {
      const choice = (chunk['choices'] as { delta: Json; finish_reason: unknown }[])[0];
      if (choice === undefined) continue;
      finish = choice.finish_reason;
      const { content, tool_calls: pieces = [], ...rest } = choice.delta;
      Object.assign(message, rest);
      if (content === null) message['content'] = null;
      else if (content !== undefined) message['content'] = `${message['content'] ?? ''}${content}`;
      for (const { index, ...call } of pieces as { index: number; function: { arguments: string } }[]) {
        if (calls[index] === undefined) calls[index] = call;
        else calls[index].function.arguments += call.function.arguments;
      }
    }
    if (calls.length > 0) message['tool_calls'] = calls;
    const last = chunks.at(-1)!;
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
    return { ...last, object: 'chat.completion', choices };
  },
  'openai-responses'(events) {
    const all = events.map(dataOf);
    expect(all.map((event) => event['sequence_number'])).toEqual(all.map((_, index) => index));
    const done = all.filter(({ type }) => type === 'response.output_item.done');
    const texts = new Map<unknown, string>();
    for (const { type, item_id: id, delta } of all) {
      if (`${type}`.endsWith('.delta')) texts.set(id, `${texts.get(id) ?? ''}${delta}`);
    }
    for (const item of done.map((event) => event['item'] as Json)) {
      const [first] = (item['content'] ?? item['summary'] ?? []) as Json[];
      expect(texts.get(item['id'])).toBe(item['arguments'] ?? first!['text']);
    }
    const response = all.at(-1)!['response'] as Json;
    expect(response['output']).toEqual(done.map((event) => event['item']));
    return response;
  },
};

/** A conversation with an agent until it ends, by raw requests: the answer goes back with results of its calls. */
const continuations: Readonly<Record<FormatName, (body: Json, answer: Json) => Json | undefined>> = {
  'anthropic-messages'(body, answer) {
    const content = answer['content'] as Json[];
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return undefined;
    const results = calls.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: 'High at noon.',
    }));
    const messages = [
      ...(body['messages'] as Json[]),
      { role: 'assistant', content },
      { role: 'user', content: results },
    ];
    return { ...body, messages };
  },
  'openai-chat'(body, answer) {
    const { message } = (answer['choices'] as { message: Json }[])[0]!;
    const calls = message['tool_calls'] as Json[] | undefined;
    if (calls === undefined) return undefined;
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'High at noon.' }));
    return { ...body, messages: [...(body['messages'] as Json[]), message, ...results] };
  },
  'openai-responses'(body, answer) {
    const output = answer['output'] as Json[];
    const calls = output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return undefined;
    const results = calls.map(({ call_id: id }) => ({
      type: 'function_call_output',
      call_id: id,
      output: 'High at noon.',
    }));
    return { ...body, input: [...(body['input'] as Json[]), ...output, ...results] };
  },
};

async function converse(simulator: Simulator, format: FormatName, body = questions[format]) {
  const bodies: Json[] = [];
  const answers: Json[] = [];
  for (let next: Json | undefined = body; next !== undefined; ) {
    const answer: Json = await ask(simulator, paths[format], next);
    expect(answer, JSON.stringify(answer)).toMatchObject({ status_code: 200 });
    bodies.push(next);
    answers.push(answer);
    next = continuations[format](next, answer);
  }
  return { bodies, answers };
}

describe.each(formatNames)('%s', (format) => {
  it('plays an agent that calls tools, two at once in one step, and ends', async () => {
    const { answers } = await converse(await start(), format);
    const text = JSON.stringify(answers);
    expect(answers).toHaveLength(4);
    expect(text.match(/read_file and read_file/g)).toHaveLength(1);
    expect(JSON.stringify(answers.at(-1))).toContain('Done after 4 results');
  });

  it.each(['whole', 'hostile'] as const)(
    'streams, in %s chunks, what it would have answered plainly',
    async (chunking) => {
      const options = { seed: 7, now: () => 1_800_000_000_000 };
      const plain = await start(options);
      const streaming = await start({ ...options, chunking });
      const { bodies, answers } = await converse(plain, format);
      for (const [index, body] of bodies.entries()) {
        const extra = format === 'openai-chat' ? { stream_options: { include_usage: true } } : {};
        const response = await post(streaming, paths[format], { ...body, stream: true, ...extra });
        expect(response.headers.get('content-type')).toContain('text/event-stream');
        const { status_code: _status, ...expected } = answers[index]!;
        expect(assemblers[format](await readEvents(response))).toEqual(expected);
      }
    },
  );

  it('gives the same answers for the same seed, and others for another', async () => {
    const now = () => 1_800_000_000_000;
    const [first, second, third] = await Promise.all(
      [3, 3, 4].map(async (seed) => (await converse(await start({ seed, now }), format)).answers),
    );
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
  });

  it('reports a prompt that grows with the conversation', async () => {
    const simulator = await start();
    await converse(simulator, format);
    const sizes = simulator.requests.map(({ promptTokens }) => promptTokens!);
    expect(sizes).toEqual(sizes.toSorted((left, right) => left - right));
    expect(sizes.at(-1)).toBeGreaterThan(sizes[0]!);
  });

  it('cuts an answer at the output limit and says so', async () => {
    const simulator = await start({
      script: () => ({ parts: [{ type: 'text', text: 'tide '.repeat(500) }] }),
    });
    const limit = {
      'anthropic-messages': 'max_tokens',
      'openai-chat': 'max_tokens',
      'openai-responses': 'max_output_tokens',
    };
    const answer = await ask(simulator, paths[format], { ...questions[format], [limit[format]]: 20 });
    expect(JSON.stringify(answer)).toMatch(
      /"stop_reason":"max_tokens"|"finish_reason":"length"|"reason":"max_output_tokens"/,
    );
    expect(simulator.requests[0]!.outputTokens).toBeLessThanOrEqual(20);
    expect(JSON.stringify(answer).length).toBeLessThan(2500);
  });
});

describe('real clients', () => {
  it.each(['whole', 'hostile'] as const)(
    '@anthropic-ai/sdk talks to it, streaming in %s chunks and not',
    async (chunking) => {
      const simulator = await start({ chunking });
      const client = new Anthropic({ apiKey: 'sk-test', baseURL: simulator.url, maxRetries: 0 });
      const request = {
        model: 'claude-opus-5-5',
        max_tokens: 500,
        messages: [{ role: 'user', content: 'Hello' }],
        tools: [{ name: 'read_file', input_schema: { type: 'object' as const } }],
      } satisfies Anthropic.MessageCreateParamsNonStreaming;
      const plain = await client.messages.create(request);
      const streamed = await client.messages.stream(request).finalMessage();
      const types = ['thinking', 'text', 'tool_use'];
      expect(plain.content.map(({ type }) => type)).toEqual(types);
      expect(streamed.content.map(({ type }) => type)).toEqual(types);
      expect(streamed.usage.input_tokens).toBe(plain.usage.input_tokens);
      const counted = await client.messages.countTokens({
        model: request.model,
        messages: request.messages,
        tools: request.tools,
      });
      expect(counted.input_tokens).toBe(plain.usage.input_tokens);
      expect((await client.models.retrieve('claude-opus-5-5')).id).toBe('claude-opus-5-5');
      const refused = client.messages.create({
        ...request,
        messages: [{ role: 'assistant', content: 'Hello' }],
      });
      await expect(refused).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    },
  );

  it.each(['whole', 'hostile'] as const)(
    'openai talks to it, streaming in %s chunks and not',
    async (chunking) => {
      const simulator = await start({ chunking });
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
      const messages = [{ role: 'user' as const, content: 'Hello' }];
      const tools = [
        {
          type: 'function' as const,
          function: { name: 'read_file', parameters: { ...schema, required: ['path'] } },
        },
      ];
      const plain = await client.chat.completions.create({ model: 'gpt-4o', messages, tools });
      const streamed = await client.chat.completions
        .stream({ model: 'gpt-4o', messages, tools })
        .finalChatCompletion();
      expect(plain.choices[0]!.message.tool_calls).toHaveLength(1);
      expect(streamed.choices[0]!.message.content).toBe(plain.choices[0]!.message.content);

      const response = await client.responses.create({ model: 'gpt-5', input: 'Hello' });
      const responseStreamed = await client.responses
        .stream({ model: 'gpt-5', input: 'Hello' })
        .finalResponse();
      expect(response.output_text).toContain('Done');
      expect(responseStreamed.output.map(({ type }) => type)).toEqual(
        response.output.map(({ type }) => type),
      );
      const follow = await client.responses.create({
        model: 'gpt-5',
        input: 'And now?',
        previous_response_id: response.id,
      });
      expect(follow.usage!.input_tokens).toBeGreaterThan(response.usage!.input_tokens);
      expect((await client.models.list()).data.some(({ id }) => id === 'gpt-4o')).toBe(true);
      await expect(client.models.retrieve('no-such-model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    },
  );

  it('a client that retries gets through a rate limit', async () => {
    const simulator = await start({ faults: [{ name: 'rate-limit', on: [1], retryAfterSeconds: 0 }] });
    const client = new Anthropic({ apiKey: 'sk-test', baseURL: simulator.url });
    await client.messages.create({
      model: 'claude-opus-5',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(simulator.requests.map(({ status }) => status)).toEqual([429, 200]);
  });
});

describe('transport', () => {
  const anthropicError = (type: string) => ({
    type: 'error',
    error: { type },
    request_id: expect.stringMatching(/^req_/),
  });

  it.each([
    {
      name: 'a missing key',
      path: '/v1/messages',
      headers: { 'x-api-key': '', authorization: '' },
      status: 401,
    },
    { name: 'a missing key', path: '/v1/chat/completions', headers: { authorization: '' }, status: 401 },
    { name: 'a missing key', path: '/v1/responses', headers: { authorization: '' }, status: 401 },
  ])('$name is refused at $path', async ({ path, headers, status }) => {
    const simulator = await start();
    const given = Object.fromEntries(
      Object.entries({ ...keys, ...headers }).filter(([, value]) => value !== ''),
    );
    const response = await fetch(`${simulator.url}${path}`, { method: 'POST', headers: given, body: '{}' });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(JSON.stringify(await response.json())).toMatch(/authentication_error|didn't provide an API key/);
  });

  it.each(Object.values(paths))('a body that is no JSON is refused at %s', async (path) => {
    const answer = await ask(await start(), path, '{"model": ');
    expect(answer).toMatchObject({ status_code: 400, error: { type: 'invalid_request_error' } });
  });

  it.each(Object.values(paths))(
    'a body that is no object, or absurdly deep, is refused at %s',
    async (path) => {
      const simulator = await start();
      const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
      const question = JSON.stringify(questions[formatNames.find((format) => paths[format] === path)!]);
      const inside = question.replace('"type":"object"', `"type":"object","default":${deep}`);
      expect(inside).toContain(deep);
      for (const body of ['null', '[]', '"text"', '7', deep, inside]) {
        expect((await ask(simulator, path, body))['status_code']).toBe(400);
      }
      const brackets = question.replace('Brest', `Brest ${'[{\\\\\\"'.repeat(1000)}`);
      expect((await ask(simulator, path, brackets))['status_code']).toBe(200);
    },
  );

  it('a body of more than 32 MiB is refused', async () => {
    const answer = await ask(await start(), '/v1/messages', `"${'x'.repeat(33 * 1024 * 1024)}"`);
    expect(answer).toMatchObject({ status_code: 413, ...anthropicError('request_too_large') });
  });

  it('a missing version header is refused', async () => {
    const simulator = await start();
    const response = await fetch(`${simulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test' },
      body: JSON.stringify(questions['anthropic-messages']),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('anthropic-version');
  });

  it.each([
    { method: 'GET', path: '/v1/messages' },
    { method: 'POST', path: '/v1/embeddings' },
    { method: 'POST', path: '/v1/models' },
    { method: 'POST', path: '/v1/messages/batches' },
    { method: 'POST', path: '/v1/messages/' },
    { method: 'POST', path: '/v1/complete' },
    { method: 'GET', path: '/v1/responses/resp_1' },
    { method: 'GET', path: '/v1/responses/compact' },
    { method: 'DELETE', path: '/v1/chat/completions' },
    { method: 'GET', path: '/__proto__' },
  ])('$method $path is answered with 404 in the shape of the client', async ({ method, path }) => {
    const simulator = await start();
    const anthropic = await fetch(`${simulator.url}${path}`, { method, headers: keys });
    const openai = await fetch(`${simulator.url}${path}`, { method, headers: { authorization: 'Bearer x' } });
    expect([anthropic.status, openai.status]).toEqual([404, 404]);
    expect(await anthropic.json()).toMatchObject(anthropicError('not_found_error'));
    const message = `Invalid URL (${method} ${path})`;
    expect(await openai.json()).toEqual({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    });
  });

  it('a query does not matter', async () => {
    const answer = await ask(await start(), '/v1/messages?beta=true', questions['anthropic-messages']);
    expect(answer['status_code']).toBe(200);
  });

  it('tells the limits of its models', async () => {
    const simulator = await start();
    const list = (await (await fetch(`${simulator.url}/v1/models`, { headers: keys })).json()) as {
      data: Json[];
    };
    expect(list.data.length).toBeGreaterThan(5);
    const one = await fetch(`${simulator.url}/v1/models/claude-haiku-4-5`, { headers: keys });
    expect(await one.json()).toMatchObject({ type: 'model', max_input_tokens: 200_000, max_tokens: 64_000 });
    const none = await fetch(`${simulator.url}/v1/models/no-such-model`, { headers: keys });
    expect(none.status).toBe(404);
  });
});

describe('contract', () => {
  const everyBeta = [
    'compact-2026-01-12',
    'compact-2026-09-04',
    'context-management-2025-06-27',
    'thinking-binding-controls-2026-08-01',
    'mcp-client-2025-11-20',
  ].join(',');

  /** Fixtures with nothing about them but what a request itself can carry: headers and a body. */
  const fixturesOf = (format: FormatName, wanted: WireFixture['verdict']) =>
    fixtureLists.get(format)!.filter(({ verdict, context = {} }) => {
      const { apiVersion: _version, betas: _betas, ...rest } = context;
      return verdict === wanted && Object.values(rest).every((value) => value === undefined);
    });

  /** Seals of somebody else's are a fault of their own here. */
  const isSealed = ({ body }: WireFixture): boolean =>
    /"(?:signature|encrypted_content|redacted_thinking|item_reference|previous_response_id)"/.test(
      JSON.stringify(body),
    );

  const send = (simulator: Simulator, format: FormatName, { body, context }: WireFixture) =>
    ask(
      simulator,
      paths[format],
      { ...(body as Json), stream: false },
      {
        'anthropic-version': context?.apiVersion ?? '2023-06-01',
        'anthropic-beta': context?.betas?.join(',') ?? everyBeta,
      },
    );

  it.each(formatNames)(
    'every body of the %s fixtures that breaks a rule is refused in the words of the provider',
    async (format) => {
      const simulator = await start();
      const fixtures = fixturesOf(format, 'invalid');
      const worded = fixtures.filter((fixture) => fixture.wording !== undefined && !isSealed(fixture));
      expect(worded.length).toBeGreaterThan(3);
      for (const fixture of fixtures) {
        const answer = await send(simulator, format, fixture);
        expect([400, 404], fixtureTitle(fixture)).toContain(answer['status_code']);
        if (!worded.includes(fixture) || fixture.before !== undefined) continue;
        expect((answer['error'] as Json)['message'], fixtureTitle(fixture)).toBe(fixture.wording);
      }
    },
  );

  it.each(formatNames)('every body of the %s fixtures that breaks none is answered', async (format) => {
    const simulator = await start();
    const fixtures = fixturesOf(format, 'valid').filter((fixture) => !isSealed(fixture));
    expect(fixtures.length).toBeGreaterThan(3);
    for (const fixture of fixtures) {
      const answer = await send(simulator, format, fixture);
      expect(answer, `${fixtureTitle(fixture)} ${JSON.stringify(answer)}`).toMatchObject({
        status_code: 200,
      });
    }
  });

  it('names the broken rule in what it records', async () => {
    const simulator = await start();
    const messages = [{ role: 'tool', tool_call_id: 'call_1', content: 'ok' }];
    await ask(simulator, '/v1/chat/completions', { model: 'gpt-4o', messages });
    expect(simulator.requests[0]).toMatchObject({
      status: 400,
      rule: 'tool-result-without-call',
      format: 'openai-chat',
    });
  });

  it('counting tokens is held to the same rules', async () => {
    const simulator = await start();
    const { max_tokens: _limit, ...body } = questions['anthropic-messages'];
    const counted = await ask(simulator, '/v1/messages/count_tokens', body);
    const answered = await ask(simulator, '/v1/messages', questions['anthropic-messages']);
    expect(counted['input_tokens']).toBe((answered['usage'] as Json)['input_tokens']);
    const refused = await ask(simulator, '/v1/messages/count_tokens', { ...body, messages: [] });
    expect(refused['status_code']).toBe(400);
  });

  it('an answer needs max_tokens, and a count takes none', async () => {
    const simulator = await start();
    const whole = questions['anthropic-messages'];
    const { max_tokens: _limit, ...body } = whole;
    const unlimited = await ask(simulator, '/v1/messages', body);
    const limited = await ask(simulator, '/v1/messages/count_tokens', whole);
    expect([unlimited['status_code'], limited['status_code']]).toEqual([400, 400]);
    expect(simulator.requests.map(({ rule }) => rule)).toEqual(['missing-field', 'unknown-field']);
  });
});

function reversedKeys(_key: string, value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isPlain ? Object.fromEntries(Object.entries(value).reverse()) : value;
}

describe('seals of thinking', () => {
  const bound = questions['anthropic-messages'];
  const unbound = {
    ...bound,
    model: 'claude-opus-4-6',
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 1024 },
  };
  type Message = { role: string; content: string | Record<string, unknown>[] };

  /** The last request of a whole conversation, changed, and the answer to it. */
  async function resend(
    question: Json,
    change: (body: Json, messages: Message[]) => Json | undefined,
    header = '',
  ) {
    const simulator = await start();
    const { bodies } = await converse(simulator, 'anthropic-messages', question);
    const body = structuredClone(bodies.at(-1)!);
    const changed = change(body, body['messages'] as Message[]) ?? body;
    const answer = await ask(simulator, '/v1/messages', changed, { 'anthropic-beta': header });
    return { answer, rule: simulator.requests.at(-1)!.rule };
  }

  const block = (messages: Message[], index: number, place: number) =>
    (messages[index]!.content as Record<string, unknown>[])[place]!;
  const dropThinking = (messages: Message[], ...indices: number[]) => {
    for (const index of indices) (messages[index]!.content as unknown[]).shift();
  };

  it.each<{ title: string; rule: string | undefined; change: Parameters<typeof resend>[1] }>([
    { title: 'everything goes back as it came', rule: undefined, change: (body) => body },
    {
      title: 'a cache marker is set',
      rule: undefined,
      change: (_body, messages) => {
        block(messages, 2, 0)['cache_control'] = { type: 'ephemeral' };
        return undefined;
      },
    },
    {
      title: 'string content becomes a block',
      rule: undefined,
      change: (_body, messages) => {
        messages[0]!.content = [{ type: 'text', text: messages[0]!.content }];
        return undefined;
      },
    },
    {
      title: 'the keys of everything stand in another order',
      rule: undefined,
      change: (body) => JSON.parse(JSON.stringify(body), reversedKeys) as Json,
    },
    {
      title: 'a tool that is loaded later is added',
      rule: undefined,
      change: (body) => ({
        ...body,
        tools: [...(body['tools'] as Json[]), { name: 'later', input_schema: schema, defer_loading: true }],
      }),
    },
    {
      title: 'thinking leaves from the start',
      rule: undefined,
      change: (_body, messages) => void dropThinking(messages, 1, 3),
    },
    {
      title: 'all thinking leaves',
      rule: undefined,
      change: (_body, messages) => void dropThinking(messages, 1, 3, 5),
    },
    {
      title: 'a thought in the middle leaves',
      rule: 'gap-in-thinking',
      change: (_body, messages) => void dropThinking(messages, 3),
    },
    {
      title: 'an earlier question is edited',
      rule: 'thinking-behind-another-prefix',
      change: (_body, messages) => {
        messages[0]!.content = 'Something else?';
        return undefined;
      },
    },
    {
      title: 'an earlier result is edited',
      rule: 'thinking-behind-another-prefix',
      change: (_body, messages) => {
        block(messages, 2, 0)['content'] = '[cleared]';
        return undefined;
      },
    },
    {
      title: 'the system prompt changes',
      rule: 'thinking-behind-another-prefix',
      change: (body) => ({ ...body, system: 'Be brief.' }),
    },
    {
      title: 'a tool is added',
      rule: 'thinking-behind-another-prefix',
      change: (body) => ({
        ...body,
        tools: [...(body['tools'] as Json[]), { name: 'other', input_schema: schema }],
      }),
    },
    {
      title: 'the text of a thought is changed',
      rule: 'thinking-modified',
      change: (_body, messages) => {
        block(messages, 5, 0)['thinking'] = 'I never thought this.';
        return undefined;
      },
    },
    {
      title: 'a signature is made up',
      rule: 'thinking-signature-invalid',
      change: (_body, messages) => {
        block(messages, 1, 0)['signature'] = 'bm90IG91cnM=';
        return undefined;
      },
    },
    {
      title: 'a signature stands under another thought',
      rule: 'thinking-modified',
      change: (_body, messages) => {
        block(messages, 5, 0)['signature'] = block(messages, 1, 0)['signature'];
        return undefined;
      },
    },
  ])('on a bound model: $title', async ({ rule, change }) => {
    const { answer, rule: found } = await resend(bound, change);
    expect(found, JSON.stringify(answer)).toBe(rule);
    expect(answer['status_code']).toBe(rule === undefined ? 200 : 400);
  });

  it('an unbound model cares for its blocks and not for what stands before them', async () => {
    const edited = await resend(unbound, (_body, messages) => {
      messages[0]!.content = 'Something else?';
      dropThinking(messages, 3);
      return undefined;
    });
    expect(edited.answer['status_code']).toBe(200);
    const changed = await resend(unbound, (_body, messages) => {
      block(messages, 5, 0)['thinking'] = 'I never thought this.';
      return undefined;
    });
    expect(changed.rule).toBe('thinking-modified');
  });

  it('several thoughts of one response follow one another', async () => {
    const simulator = await start({
      script: ({ number }) => ({
        parts: [
          { type: 'thinking', text: `First ${number}` },
          { type: 'text', text: 'Wait.' },
          { type: 'thinking', text: `Second ${number}` },
          { type: 'tool-call', name: 'read_file', input: { path: 'a' } },
        ],
      }),
    });
    const first = await ask(simulator, '/v1/messages', bound);
    const second = continuations['anthropic-messages'](bound, first)!;
    const third = continuations['anthropic-messages'](second, await ask(simulator, '/v1/messages', second))!;
    expect((await ask(simulator, '/v1/messages', third))['status_code']).toBe(200);
    const messages = structuredClone(third['messages']) as Message[];
    (messages[1]!.content as unknown[]).splice(2, 1);
    await ask(simulator, '/v1/messages', { ...third, messages });
    expect(simulator.requests.at(-1)!.rule).toBe('gap-in-thinking');
  });

  it('another simulator does not know them', async () => {
    const { bodies } = await converse(await start({ seed: 1 }), 'anthropic-messages');
    const stranger = await start({ seed: 2 });
    await ask(stranger, '/v1/messages', bodies.at(-1));
    expect(stranger.requests[0]!.rule).toBe('thinking-signature-invalid');
  });

  describe('drop_block', () => {
    const beta = 'thinking-binding-controls-2026-08-01';
    const edit: Parameters<typeof resend>[1] = (body, messages) => {
      block(messages, 2, 0)['content'] = '[cleared]';
      return {
        ...body,
        thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      };
    };

    it('drops the first block that does not fit and all behind it, and reports them', async () => {
      const { answer } = await resend(bound, edit, beta);
      const dropped = ['messages.3.content.0', 'messages.5.content.0'].map((path) => ({
        type: 'thinking_dropped',
        path,
        reason: 'prefix_binding_mismatch',
      }));
      expect(answer).toMatchObject({ status_code: 200, input_transformations: dropped });
    });

    it('drops what is behind a gap as well, though it would fit by itself', async () => {
      const simulator = await start();
      const { bodies, answers } = await converse(simulator, 'anthropic-messages');
      const messages = structuredClone(bodies.at(-1)!['messages']) as Message[];
      dropThinking(messages, 3);
      const last = { role: 'assistant', content: answers.at(-1)!['content'] };
      const request = {
        ...bound,
        messages: [...messages, last, { role: 'user', content: 'Go on.' }],
        thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      };
      const answer = await ask(simulator, '/v1/messages', request, { 'anthropic-beta': beta });
      const dropped = answer['input_transformations'] as Json[];
      expect(dropped.map(({ path }) => path)).toEqual(['messages.5.content.0', 'messages.7.content.0']);
    });

    it('reports them in a stream as well', async () => {
      const simulator = await start();
      const { bodies } = await converse(simulator, 'anthropic-messages');
      const body = structuredClone(bodies.at(-1)!);
      const request = { ...edit(body, body['messages'] as Message[]), stream: true };
      const events = await readEvents(
        await post(simulator, '/v1/messages', request, { 'anthropic-beta': beta }),
      );
      const end = events.map(dataOf).find(({ type }) => type === 'message_delta')!;
      expect(end['input_transformations']).toHaveLength(2);
    });

    it('does not count what it drops', async () => {
      const { answer } = await resend(bound, edit, beta);
      const whole = await resend(bound, (_body, messages) => {
        block(messages, 2, 0)['content'] = '[cleared]';
        dropThinking(messages, 3, 5);
        return undefined;
      });
      expect((answer['usage'] as Json)['input_tokens']).toBe((whole.answer['usage'] as Json)['input_tokens']);
    });

    it('is not known without its header', async () => {
      const { answer } = await resend(bound, edit);
      expect(answer).toMatchObject({ status_code: 400, error: { type: 'invalid_request_error' } });
    });
  });

  it('a summary made on demand is signed, and refused once it is changed', async () => {
    const simulator = await start();
    const beta = { 'anthropic-beta': 'compact-2026-09-04' };
    const request = { ...bound, compaction: { type: 'summarize' } };
    const answer = await ask(simulator, '/v1/messages', request, beta);
    expect(answer).toMatchObject({
      stop_reason: 'compaction',
      usage: { input_tokens: 0, iterations: [{ type: 'compaction' }] },
    });
    const [made] = answer['content'] as Json[];
    const follow = (summary: unknown) => ({
      ...bound,
      messages: [
        { role: 'assistant', content: [summary] },
        { role: 'user', content: 'Go on.' },
      ],
    });
    expect((await ask(simulator, '/v1/messages', follow(made), beta))['status_code']).toBe(200);
    const changed = await ask(
      simulator,
      '/v1/messages',
      follow({ ...made, content: 'Nothing happened.' }),
      beta,
    );
    expect(changed).toMatchObject({ error: { details: { error_code: 'compaction_content_mismatch' } } });
  });
});

describe('seals of reasoning', () => {
  type Items = Record<string, unknown>[];

  async function resend(change: (items: Items) => Items) {
    const simulator = await start();
    const { bodies } = await converse(simulator, 'openai-responses', {
      ...questions['openai-responses'],
      store: false,
    });
    const body = structuredClone(bodies.at(-1)!);
    const answer = await ask(simulator, '/v1/responses', { ...body, input: change(body['input'] as Items) });
    return { answer, rule: simulator.requests.at(-1)!.rule };
  }

  const withoutId = ({ id: _id, ...item }: Record<string, unknown>) => item;
  const isReasoning = ({ type }: Record<string, unknown>) => type === 'reasoning';

  it.each<{ title: string; rule: string | undefined; change: (items: Items) => Items }>([
    { title: 'everything goes back as it came', rule: undefined, change: (items) => items },
    {
      title: 'the encrypted content is shortened',
      rule: 'encrypted-content-invalid',
      change: ([ask, thought, ...rest]) => [
        ask!,
        { ...thought, encrypted_content: `${thought!['encrypted_content']}`.slice(0, -8) },
        ...rest,
      ],
    },
    {
      title: 'the encrypted content stands under another id',
      rule: 'encrypted-content-invalid',
      change: ([ask, thought, ...rest]) => [ask!, { ...thought, id: `rs_${'0'.repeat(48)}` }, ...rest],
    },
    {
      title: 'the encrypted content has lost its id, which it tells itself',
      rule: undefined,
      change: ([ask, thought, ...rest]) => [ask!, withoutId(thought!), ...rest],
    },
    {
      title: 'all items have lost their ids',
      rule: undefined,
      change: (items) => items.map(withoutId),
    },
    {
      title: 'thoughts leave and their followers stay',
      rule: 'item-without-reasoning',
      change: (items) => items.filter((item) => !isReasoning(item)),
    },
    {
      title: 'thoughts and the ids of their followers leave',
      rule: undefined,
      change: (items) => items.filter((item) => !isReasoning(item)).map(withoutId),
    },
    {
      title: 'a thought stays alone',
      rule: 'reasoning-without-following-item',
      change: ([ask, thought]) => [ask!, thought!, { role: 'user', content: 'Go on.' }],
    },
  ])('$title', async ({ rule, change }) => {
    const { answer, rule: found } = await resend(change);
    expect(found, JSON.stringify(answer)).toBe(rule);
    expect(answer['status_code']).toBe(rule === undefined ? 200 : 400);
    if (rule === 'encrypted-content-invalid')
      expect(answer).toMatchObject({ error: { code: 'invalid_encrypted_content' } });
  });

  it('what is stored can be gone on from, and what is not cannot', async () => {
    const simulator = await start();
    const base = questions['openai-responses'];
    const kept = await ask(simulator, '/v1/responses', base);
    const [thought, , call] = kept['output'] as Json[];
    const output = { type: 'function_call_output', call_id: call!['call_id'], output: 'ok' };
    const follow = { ...base, previous_response_id: kept['id'], input: [output] };
    expect((await ask(simulator, '/v1/responses', follow))['status_code']).toBe(200);
    const unanswered = { ...follow, input: [{ role: 'user', content: 'Go on.' }] };
    await ask(simulator, '/v1/responses', unanswered);
    expect(simulator.requests.at(-1)!.rule).toBe('tool-call-without-result');

    const lost = await ask(simulator, '/v1/responses', { ...base, store: false });
    const unknown = await ask(simulator, '/v1/responses', { ...follow, previous_response_id: lost['id'] });
    expect(unknown).toMatchObject({ status_code: 400, error: { code: 'previous_response_not_found' } });
    const [unstored] = lost['output'] as Json[];
    const reference = (id: unknown) => ({
      ...base,
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'item_reference', id },
      ],
    });
    expect((await ask(simulator, '/v1/responses', reference(unstored!['id'])))['status_code']).toBe(404);
    await ask(simulator, '/v1/responses', reference(thought!['id']));
    expect(simulator.requests.at(-1)!.rule).not.toBe('stored-item-not-found');
  });
});

describe('prompt cache', () => {
  const page = (words: number, seed = 'tide') => `${seed} `.repeat(words);
  const mark = { type: 'ephemeral' };
  const cachedText = (text: string, control: object = mark) => ({
    type: 'text',
    text,
    cache_control: control,
  });
  const claude = (content: unknown, rest: object = {}) => ({
    model: 'claude-opus-5',
    max_tokens: 50,
    messages: [{ role: 'user', content }],
    ...rest,
  });

  interface CacheNumbers {
    readonly input_tokens: number;
    readonly cache_read_input_tokens: number;
    readonly cache_creation_input_tokens: number;
    readonly cache_creation: Readonly<Record<string, number>>;
  }

  async function startWithClock() {
    const clock = { now: 0 };
    const simulator = await start({ now: () => clock.now });
    const send = async (body: object): Promise<CacheNumbers> => {
      const answer = await ask(simulator, '/v1/messages', body);
      expect(answer, JSON.stringify(answer)).toMatchObject({ status_code: 200 });
      const usage = answer['usage'] as CacheNumbers;
      const sum = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
      expect(sum).toBe(simulator.requests.at(-1)!.promptTokens);
      return usage;
    };
    return { clock, send };
  }

  const minutes = (count: number) => count * 60_000;

  it('writes at a breakpoint and reads it until it has not been used for five minutes', async () => {
    const { clock, send } = await startWithClock();
    const body = claude([cachedText(page(2000)), { type: 'text', text: 'Well?' }]);
    const first = await send(body);
    expect(first.cache_creation_input_tokens).toBeGreaterThan(2000);
    expect(first.cache_read_input_tokens).toBe(0);
    expect(first.input_tokens).toBeGreaterThan(0);
    for (const now of [minutes(4), minutes(8)]) {
      clock.now = now;
      const again = await send(body);
      expect(again.cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
      expect(again.cache_creation_input_tokens).toBe(0);
    }
    clock.now = minutes(13);
    expect((await send(body)).cache_read_input_tokens).toBe(0);
  });

  it('keeps what is written for an hour that long, and tells the two apart', async () => {
    const { clock, send } = await startWithClock();
    const body = claude([cachedText(page(1500)), { type: 'text', text: 'Well?' }], {
      system: [cachedText(page(1500), { type: 'ephemeral', ttl: '1h' })],
    });
    const first = await send(body);
    expect(first.cache_creation['ephemeral_1h_input_tokens']).toBeGreaterThan(1400);
    expect(first.cache_creation['ephemeral_5m_input_tokens']).toBeGreaterThan(1400);
    clock.now = minutes(30);
    const later = await send(body);
    expect(later.cache_read_input_tokens).toBe(first.cache_creation['ephemeral_1h_input_tokens']);
    expect(later.cache_creation['ephemeral_5m_input_tokens']).toBe(
      first.cache_creation['ephemeral_5m_input_tokens'],
    );
  });

  it('does not cache a prefix that is too short, without a word', async () => {
    const { send } = await startWithClock();
    for (let count = 0; count < 2; count++) {
      expect(await send(claude([cachedText(page(50))]))).toMatchObject({
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      });
    }
  });

  it.each([
    { added: 19, isHit: true },
    { added: 20, isHit: false },
  ])('a breakpoint $added blocks further on finds the old one: $isHit', async ({ added, isHit }) => {
    const { send } = await startWithClock();
    const old = page(2000);
    await send(claude([cachedText(old)]));
    const more = Array.from({ length: added }, (_, index) => ({ type: 'text', text: `Block ${index}` }));
    const last = { ...more.at(-1)!, cache_control: mark };
    const usage = await send(claude([{ type: 'text', text: old }, ...more.slice(0, -1), last]));
    expect(usage.cache_read_input_tokens > 0).toBe(isHit);
  });

  it.each([
    { what: 'the tools', change: { tools: [{ name: 'write_file', input_schema: schema }] } },
    { what: 'the model', change: { model: 'claude-opus-4-8' } },
    { what: 'the system prompt', change: { system: 'Be brief.' } },
    { what: 'the tool choice', change: { tool_choice: { type: 'none' } } },
    { what: 'the thinking', change: { thinking: { type: 'disabled' } } },
    { what: 'the effort', change: { output_config: { effort: 'low' } } },
    {
      what: 'having no image',
      change: {
        messages: [
          { role: 'user', content: [cachedText(page(2000))] },
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
          },
        ],
      },
    },
  ])('a change of $what loses the cached messages', async ({ change }) => {
    const { send } = await startWithClock();
    const tools = [{ name: 'read_file', input_schema: schema }];
    const body = claude([cachedText(page(2000))], { tools });
    await send(body);
    expect((await send(body)).cache_read_input_tokens).toBeGreaterThan(0);
    expect((await send({ ...body, ...change })).cache_read_input_tokens).toBe(0);
  });

  it('a choice of tools that is the same in other words, and a shorter output, lose nothing', async () => {
    const { send } = await startWithClock();
    const body = claude([cachedText(page(2000))], { tools: [{ name: 'read_file', input_schema: schema }] });
    const { cache_creation_input_tokens: written } = await send(body);
    const again = await send({ ...body, tool_choice: { type: 'auto' }, max_tokens: 9 });
    expect(again.cache_read_input_tokens).toBe(written);
  });

  it('OpenAI caches whatever the choice of tools is', async () => {
    const simulator = await start();
    const body = {
      ...questions['openai-chat'],
      messages: [{ role: 'user', content: page(2000) }],
    };
    await ask(simulator, '/v1/chat/completions', body);
    const { usage } = await ask(simulator, '/v1/chat/completions', { ...body, tool_choice: 'none' });
    expect(usage).toMatchObject({ prompt_tokens_details: { cached_tokens: expect.any(Number) } });
    const { prompt_tokens_details: details } = usage as { prompt_tokens_details: { cached_tokens: number } };
    expect(details.cached_tokens).toBeGreaterThan(1024);
  });

  it('a marker at the top of the request caches up to its end', async () => {
    const { send } = await startWithClock();
    const body = claude(page(2000), { cache_control: mark });
    const first = await send(body);
    expect(first.input_tokens).toBe(0);
    const grown = {
      ...body,
      messages: [...body.messages, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'And?' }],
    };
    expect((await send(grown)).cache_read_input_tokens).toBe(first.cache_creation_input_tokens);
  });

  it.each([
    { path: '/v1/chat/completions', list: 'messages', usage: ['prompt_tokens_details', 'prompt_tokens'] },
    { path: '/v1/responses', list: 'input', usage: ['input_tokens_details', 'input_tokens'] },
  ] as const)('$path caches by itself, in steps of 128 from 1,024 on', async ({ path, list, usage }) => {
    const clock = { now: 0 };
    const simulator = await start({ now: () => clock.now });
    const send = async (...texts: string[]) => {
      const body = { model: 'gpt-4o', [list]: texts.map((content) => ({ role: 'user', content })) };
      const numbers = (await ask(simulator, path, body))['usage'] as Record<string, unknown>;
      const { cached_tokens: cached } = numbers[usage[0]] as { cached_tokens: number };
      return { cached, prompt: numbers[usage[1]] as number };
    };
    expect((await send(page(2000))).cached).toBe(0);
    const again = await send(page(2000), 'And now?');
    expect(again.cached % 128).toBe(0);
    expect(again.cached).toBeGreaterThanOrEqual(1024);
    expect(again.prompt - again.cached).toBeLessThan(128 + 20);
    expect((await send(page(2000, 'moon'))).cached).toBe(0);
    await send(page(300));
    expect((await send(page(300))).cached).toBe(0);
    clock.now = minutes(24 * 60 + 1);
    expect((await send(page(2000))).cached).toBe(0);
  });
});

describe('length', () => {
  const long = { role: 'user', content: 'The tide comes in. '.repeat(400) };
  const claude = (model: string, maxTokens: number) => ({ model, max_tokens: maxTokens, messages: [long] });

  it.each([
    {
      name: 'Claude names both numbers',
      path: '/v1/messages',
      body: claude('claude-opus-5', 100),
      message: /^prompt is too long: \d+ tokens > 1000 maximum$/,
      kind: 'prompt-too-long',
    },
    {
      name: 'an older chat model names the window',
      path: '/v1/chat/completions',
      body: { model: 'gpt-4o', messages: [long] },
      message:
        /^This model's maximum context length is 1000 tokens\. However, your messages resulted in \d+ tokens\. /,
      kind: 'prompt-too-long',
    },
    {
      name: 'a newer chat model names the limit of its input',
      path: '/v1/chat/completions',
      body: { model: 'gpt-5', messages: [long] },
      message:
        /^Input tokens exceed the configured limit of 1000 tokens\. Your messages resulted in \d+ tokens\. /,
      kind: 'prompt-too-long',
    },
    {
      name: 'Responses names no number',
      path: '/v1/responses',
      body: { model: 'gpt-5', input: [long] },
      message: /^Your input exceeds the context window of this model\. /,
      kind: 'prompt-too-long',
    },
  ])('$name', async ({ path, body, message, kind }) => {
    const answer = await ask(await start({ windowTokens: 1000 }), path, body);
    expect(answer['status_code']).toBe(400);
    expect((answer['error'] as Json)['message']).toMatch(message);
    expect(parseOverflow(answer, { status: 400 })).toMatchObject({ kind });
  });

  it('counts what the caller counts', async () => {
    const simulator = await start({ windowTokens: 50, countTokens: () => 51 });
    const answer = await ask(simulator, '/v1/messages', questions['anthropic-messages']);
    expect((answer['error'] as Json)['message']).toBe('prompt is too long: 51 tokens > 50 maximum');
  });

  it.each(['claude-3-5-sonnet-20241022', 'claude-opus-4-20250514', 'claude-opus-4-1', 'claude-sonnet-4-0'])(
    '%s refuses an output that does not fit behind its prompt',
    async (model) => {
      const simulator = await start({ windowTokens: 1000, countTokens: () => 900 });
      const answer = await ask(simulator, '/v1/messages', claude(model, 200));
      expect((answer['error'] as Json)['message']).toBe(
        'input length and `max_tokens` exceed context limit: 900 + 200 > 1000, decrease input length or `max_tokens` and try again',
      );
      expect(parseOverflow(answer, { status: 400 })).toMatchObject({ kind: 'output-too-large' });
    },
  );

  it.each([
    'claude-sonnet-4-5-20250929',
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-haiku-5-5',
    'some-model',
  ])('%s answers and stops where the window is full', async (model) => {
    const script = () => ({ parts: [{ type: 'text' as const, text: 'tide '.repeat(400) }] });
    const simulator = await start({ windowTokens: 1000, countTokens: () => 900, script });
    const answer = await ask(simulator, '/v1/messages', claude(model, 200));
    expect(answer).toMatchObject({ status_code: 200, stop_reason: 'model_context_window_exceeded' });
    expect((answer['usage'] as { output_tokens: number }).output_tokens).toBeLessThanOrEqual(100);
  });

  it('an older chat model refuses an output that does not fit', async () => {
    const simulator = await start({ windowTokens: 1000, countTokens: () => 900 });
    const body = { model: 'gpt-4o', messages: [long], max_tokens: 200 };
    const answer = await ask(simulator, '/v1/chat/completions', body);
    expect(answer).toMatchObject({ error: { code: 'context_length_exceeded', param: 'messages' } });
    expect((answer['error'] as Json)['message']).toContain(
      'you requested 1100 tokens (900 in the messages, 200 in the completion)',
    );
  });

  it('a newer chat model shortens an output that does not fit', async () => {
    const simulator = await start({ windowTokens: 1000, countTokens: () => 900 });
    const body = { model: 'gpt-5', messages: [long], max_completion_tokens: 200 };
    expect((await ask(simulator, '/v1/chat/completions', body))['status_code']).toBe(200);
  });

  it('the prompt that introduces tools counts once', async () => {
    const simulator = await start();
    const tool = (name: string) => ({ name, input_schema: schema });
    for (const tools of [[tool('one')], [tool('one'), tool('two')]]) {
      await ask(simulator, '/v1/messages', { ...questions['anthropic-messages'], tools });
    }
    const [first, second] = simulator.requests.map(({ promptTokens }) => promptTokens!);
    expect(second! - first!).toBeGreaterThan(5);
    expect(second! - first!).toBeLessThan(100);
  });

  it('truncation drops no more than it has to', async () => {
    const simulator = await start({ windowTokens: 2000 });
    const small = { role: 'user', content: 'The tide comes in. '.repeat(10) };
    const send = async (count: number): Promise<number> => {
      const input = Array.from({ length: count }, () => small);
      await ask(simulator, '/v1/responses', { model: 'gpt-5', input, truncation: 'auto' });
      return simulator.requests.at(-1)!.promptTokens!;
    };
    const itemTokens = (await send(2)) - (await send(1));
    for (let count = 60; count < 72; count++) {
      const promptTokens = await send(count);
      expect(promptTokens).toBeLessThanOrEqual(2000);
      expect(promptTokens).toBeGreaterThan(2000 - itemTokens - 2);
    }
  });

  it('truncation: auto drops the oldest items instead', async () => {
    const simulator = await start({ windowTokens: 3000 });
    const body = { model: 'gpt-5', input: [long, long, { role: 'user', content: 'Well?' }] };
    expect((await ask(simulator, '/v1/responses', body))['status_code']).toBe(400);
    const answer = await ask(simulator, '/v1/responses', { ...body, truncation: 'auto' });
    expect(answer['status_code']).toBe(200);
    expect((answer['usage'] as { input_tokens: number }).input_tokens).toBeLessThanOrEqual(3000);
  });
});

describe('faults', () => {
  /** A limit of the output in the words of the format. */
  const capOf = (format: FormatName, tokens: number): Json =>
    format === 'openai-responses' ? { max_output_tokens: tokens } : { max_tokens: tokens };
  const refusals: readonly { name: FaultName; status: number; text: string; kind?: string }[] = [
    { name: 'rate-limit', status: 429, text: 'rate limit' },
    { name: 'rate-limit-without-hint', status: 429, text: 'rate limit' },
    { name: 'tokens-per-minute', status: 429, text: 'tokens per min (TPM): Limit', kind: 'rate-window' },
    {
      name: 'tokens-per-minute-413',
      status: 413,
      text: 'tokens per minute (TPM): Limit',
      kind: 'rate-window',
    },
    { name: 'server-error', status: 500, text: 'Internal server error' },
    { name: 'overloaded', status: 529, text: 'Overloaded' },
    { name: 'too-long-vertex', status: 413, text: 'Prompt is too long', kind: 'prompt-too-long' },
    {
      name: 'too-long-bedrock',
      status: 400,
      text: 'Input is too long for requested model.',
      kind: 'prompt-too-long',
    },
  ];
  const deliveries: readonly FaultName[] = [
    'error-after-start',
    'response-failed',
    'too-long-in-stream',
    'cut-stream',
    'empty-stream',
    'silent-truncation',
    'slow-first-byte',
    'hostile-chunks',
    'crlf',
  ];

  it('are all tried here', () => {
    const tried = [...refusals.map(({ name }) => name), ...deliveries];
    expect(tried.toSorted()).toEqual(Object.keys(faultKinds).toSorted());
  });

  describe.each(formatNames)('%s', (format) => {
    const body = questions[format];
    const streamed = { ...body, stream: true };

    it.each(refusals)('$name answers with $status', async ({ name, status, text, kind }) => {
      const simulator = await start({ faults: [{ name }] });
      const response = await post(simulator, paths[format], body);
      const answer = await response.text();
      expect(response.status).toBe(status);
      expect(answer).toContain(text);
      expect(response.headers.get('retry-after')).toBe(name === 'rate-limit' ? '1' : null);
      expect(parseOverflow(answer, { status })?.kind).toBe(kind);
      expect(simulator.requests[0]!.faults).toEqual([name]);
    });

    it('error-after-start begins the stream and then fails', async () => {
      const simulator = await start({ faults: [{ name: 'error-after-start' }] });
      const response = await post(simulator, paths[format], streamed);
      const events = await readEvents(response);
      expect(response.status).toBe(200);
      expect(events.filter(({ data }) => data !== '[DONE]')).toHaveLength(2);
      expect(events[1]!.data).toContain('Overloaded');
    });

    it('response-failed says within the stream that the prompt is too long', async () => {
      const simulator = await start({ faults: [{ name: 'response-failed' }] });
      const events = await readEvents(await post(simulator, paths[format], streamed));
      const failure = events.findLast(({ data }) => data !== '[DONE]')!;
      expect(parseOverflow(failure.data, { status: 200 })).toMatchObject({ kind: 'prompt-too-long' });
      if (format === 'openai-responses') expect(failure.event).toBe('response.failed');
    });

    it('too-long-in-stream refuses what is too long behind the start of the stream, and nothing else', async () => {
      const faults = [{ name: 'too-long-in-stream' as const }];
      const small = await start({ windowTokens: 20, faults });
      const response = await post(small, paths[format], {
        ...streamed,
        max_tokens: undefined,
        ...capOf(format, 5),
      });
      const events = await readEvents(response);
      const failure = events.findLast(({ data }) => data !== '[DONE]')!;
      expect(response.status).toBe(200);
      expect(events.length).toBeGreaterThan(1);
      expect(parseOverflow(failure.data, { status: 200 })).toMatchObject({ kind: 'prompt-too-long' });
      expect((await post(small, paths[format], { ...body, ...capOf(format, 5) })).status).toBe(400);
      const large = await readEvents(await post(await start({ faults }), paths[format], streamed));
      expect(large.some(({ data }) => parseOverflow(data, { status: 200 }) !== undefined)).toBe(false);
    });

    it('cut-stream ends in the middle of a block', async () => {
      const simulator = await start({ faults: [{ name: 'cut-stream' }] });
      const response = await post(simulator, paths[format], streamed);
      const events: StreamEvent[] = [];
      const splitter = createEventSplitter();
      await expect(async () => {
        for await (const chunk of response.body!) events.push(...splitter.push(chunk));
      }).rejects.toThrow();
      const text = events.map(({ event, data }) => `${event} ${data}`).join('\n');
      expect(text).toMatch(/content_block_start|"delta":\{"content":"[^"]|output_item.added/);
      expect(text).not.toMatch(/message_delta|"finish_reason":"|response\.completed/);
      expect(splitter.end()).not.toEqual([]);
    });

    it.each([body, streamed])('cut-stream breaks the connection in the middle', async (request) => {
      const simulator = await start({ faults: [{ name: 'cut-stream' }] });
      const response = await post(simulator, paths[format], request);
      await expect(response.text()).rejects.toThrow();
    });

    it('empty-stream is a 200 without an event', async () => {
      const simulator = await start({ faults: [{ name: 'empty-stream' }] });
      const response = await post(simulator, paths[format], streamed);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('');
    });

    it('slow-first-byte waits, and closing the simulator does not wait for it', async () => {
      const simulator = await start({ faults: [{ name: 'slow-first-byte', delayMs: 3_600_000 }] });
      const answer = post(simulator, paths[format], streamed);
      answer.catch(() => undefined);
      while (simulator.requests.length === 0) await new Promise((resume) => setTimeout(resume, 5));
      await simulator.close();
      await expect(answer).rejects.toThrow();
    });

    it.each(['crlf', 'hostile-chunks'] as const)(
      '%s changes nothing that a client may notice',
      async (name) => {
        const options = { now: () => 0 };
        const clean = await readEvents(await post(await start(options), paths[format], streamed));
        const faulty = await readEvents(
          await post(await start({ ...options, faults: [{ name }] }), paths[format], streamed),
        );
        expect(faulty.map(({ event, data }) => ({ event, data }))).toEqual(
          clean.map(({ event, data }) => ({ event, data })),
        );
        const text = faulty.map(({ raw }) => new TextDecoder().decode(raw)).join('');
        const lineFeeds = text.split('\n').length;
        expect(text.split('\r\n').length).toBe(name === 'crlf' ? lineFeeds : 1);
      },
    );

    it('silent-truncation answers a prompt that is too long as if it were short', async () => {
      const field = format === 'openai-responses' ? 'input' : 'messages';
      const long = { role: 'user', content: 'The tide comes in. '.repeat(200) };
      const request = {
        ...body,
        [field]: [
          long,
          { role: 'assistant', content: 'So it does.' },
          long,
          { role: 'assistant', content: 'Yes.' },
          { role: 'user', content: 'Well?' },
        ],
      };
      const limit = 1700;
      expect((await ask(await start({ windowTokens: limit }), paths[format], request))['status_code']).toBe(
        400,
      );
      const simulator = await start({ windowTokens: limit, faults: [{ name: 'silent-truncation' }] });
      expect((await ask(simulator, paths[format], request))['status_code']).toBe(200);
      expect(simulator.requests[0]!.promptTokens).toBeLessThanOrEqual(limit);
    });
  });

  it('strike the requests they are meant for', async () => {
    const simulator = await start({
      faults: [
        { name: 'overloaded', on: [2] },
        { name: 'server-error', on: ({ format, number }) => format === 'openai-chat' && number > 3 },
      ],
    });
    for (const format of ['openai-chat', 'openai-chat', 'openai-responses', 'openai-chat'] as const) {
      await ask(simulator, paths[format], questions[format]);
    }
    expect(simulator.requests.map(({ status }) => status)).toEqual([200, 529, 200, 500]);
  });
});

describe('what is kept', () => {
  it('never holds a key, and holds the newest 1,000 requests', async () => {
    const simulator = await start();
    for (let count = 0; count < 1005; count++) await fetch(`${simulator.url}/${count}`, { headers: keys });
    await ask(simulator, '/v1/messages', questions['anthropic-messages']);
    expect(simulator.requests).toHaveLength(1000);
    expect(simulator.requests[0]!.path).toBe('/6');
    expect(JSON.stringify(simulator.requests)).not.toContain('secret');
    expect(simulator.requests.at(-1)!.body).toEqual(questions['anthropic-messages']);
  });

  it('closing twice is fine, and the port is free afterwards', async () => {
    const simulator = await start();
    await simulator.close();
    await simulator.close();
    const again = await start({ port: Number(new URL(simulator.url).port) });
    expect(again.url).toBe(simulator.url);
    await expect(startSimulator({ port: Number(new URL(again.url).port) })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('a script that throws is an error of the server, not the end of it', async () => {
    let isBroken = true;
    const simulator = await start({
      script() {
        if (isBroken) throw new Error('lost the thread');
        return { parts: [{ type: 'text', text: 'Here again.' }] };
      },
    });
    const failed = await ask(simulator, '/v1/messages', questions['anthropic-messages']);
    isBroken = false;
    const answered = await ask(simulator, '/v1/messages', questions['anthropic-messages']);
    expect([failed['status_code'], answered['status_code']]).toEqual([500, 200]);
  });
});
