import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { deepFreeze } from '../../test/support/deep-freeze.ts';
import { RoundfoldError } from '../conversation/errors.ts';
import { withMessages } from '../conversation/format.ts';
import { anthropicMessages } from '../formats/anthropic-messages/format.ts';
import { openaiChat } from '../formats/openai-chat/format.ts';
import { parseOverflow } from '../formats/overflow/detect.ts';
import type { CompletionRequest, ModelClient } from '../memory/model/model-client.ts';
import { anthropicClient } from './anthropic.ts';
import { functionClient } from './function.ts';
import type { HttpClientOptions } from './http.ts';
import { openaiClient } from './openai.ts';

const key = 'sk-test-0123456789abcdef';
const question: CompletionRequest = { system: 'be brief', prompt: 'sum it up', maximumOutputTokens: 500 };

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Handler = (response: ServerResponse, received: Received) => void;

/** A real server on a free port; what it received is in the list. */
async function serve(handler: Handler): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const record = { path: request.url, headers: request.headers, body: JSON.parse(text) };
      received.push(record);
      handler(response, record);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

function json(status: number, body: unknown): Handler {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

async function errorOf(work: Promise<unknown>): Promise<RoundfoldError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!RoundfoldError.is(error)) throw new Error('a RoundfoldError was expected', { cause: error });
  return error;
}

const anthropicAnswer = {
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'text', text: 'first ' },
    { type: 'text', text: 'second' },
  ],
  stop_reason: 'end_turn',
  usage: {
    input_tokens: 3,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 500,
    output_tokens: 7,
  },
};
const openaiAnswer = {
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'first second', reasoning_content: 'hm' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 543, completion_tokens: 7, total_tokens: 550 },
};

interface Subject {
  readonly name: string;
  readonly create: (options: HttpClientOptions) => ModelClient;
  readonly answer: unknown;
  readonly keyHeader: { readonly name: string; readonly value: string };
  readonly path: string;
  readonly tooLong: unknown;
}

const subjects: readonly Subject[] = [
  {
    name: 'anthropicClient',
    create: anthropicClient,
    answer: anthropicAnswer,
    keyHeader: { name: 'x-api-key', value: key },
    path: '/v1/messages',
    tooLong: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    },
  },
  {
    name: 'openaiClient',
    create: openaiClient,
    answer: openaiAnswer,
    keyHeader: { name: 'authorization', value: `Bearer ${key}` },
    path: '/chat/completions',
    tooLong: {
      error: {
        message:
          "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
];

describe.each(subjects)('$name', ({ create, answer, keyHeader, path, tooLong }) => {
  const client = (baseUrl: string, options: Partial<HttpClientOptions> = {}) =>
    create({ model: 'some-model', apiKey: key, baseUrl, ...options });

  it('gives text and usage of a whole answer, without its reasoning', async () => {
    const { url, received } = await serve(json(200, answer));

    const completion = await client(url).complete(deepFreeze({ ...question }));

    expect(completion).toEqual({
      text: 'first second',
      stop: 'end',
      usage: { promptTokens: 543, outputTokens: 7 },
    });
    expect(received[0]?.path).toBe(path);
    expect(received[0]?.headers[keyHeader.name]).toBe(keyHeader.value);
    expect(received[0]?.body['model']).toBe('some-model');
    expect(JSON.stringify(received[0]?.body)).toContain('sum it up');
  });

  it('sends one question, no tools, no stream and no temperature that nobody asked for', async () => {
    const { url, received } = await serve(json(200, answer));

    await client(url).complete(question);
    await client(url).complete({ ...question, temperature: 0 });

    for (const field of ['tools', 'tool_choice', 'stream', 'temperature']) {
      expect(received[0]?.body).not.toHaveProperty(field);
    }
    expect(received[0]?.body['max_tokens']).toBe(500);
    expect(received[1]?.body['temperature']).toBe(0);
  });

  it('sends no key when there is none, and the caller’s headers over its own', async () => {
    const { url, received } = await serve(json(200, answer));

    await create({ model: 'm', baseUrl: `${url}/`, headers: { 'X-Team': 'red', Accept: 'x/y' } }).complete(
      question,
    );

    expect(received[0]?.headers[keyHeader.name]).toBeUndefined();
    expect(received[0]?.headers['x-team']).toBe('red');
    expect(received[0]?.headers['accept']).toBe('x/y');
    expect(received[0]?.path).toBe(path);
  });

  it('turns a refusal into an error from which the overflow can be read', async () => {
    const { url } = await serve(json(400, tooLong));

    const error = await errorOf(client(url).complete(question));

    expect(error.code).toBe('upstream');
    expect(error.message).toContain('HTTP 400');
    expect(error.cause).toEqual({ status: 400, body: tooLong });
    expect(parseOverflow(error.cause)).toMatchObject({ kind: 'prompt-too-long', excessTokens: 10_000 });
  });

  it.each([
    { status: 401, remedy: /key/ },
    { status: 404, remedy: /model/ },
    { status: 429, remedy: /Wait/ },
    { status: 500, remedy: /later/ },
    { status: 529, remedy: /later/ },
  ])('says what can be done about HTTP $status, and takes it for no overflow', async ({ status, remedy }) => {
    const { url } = await serve(json(status, { error: { type: 'some_error', message: 'not now' } }));

    const error = await errorOf(client(url).complete(question));

    expect(error.message).toContain(`HTTP ${status}: not now`);
    expect(error.remedy).toMatch(remedy);
    expect(parseOverflow(error.cause)).toBeUndefined();
  });

  it('never takes a server crash that quotes an overflow for one', async () => {
    const { url } = await serve(json(500, tooLong));

    expect(parseOverflow((await errorOf(client(url).complete(question))).cause)).toBeUndefined();
  });

  it('quotes at most 200 characters of what the provider said, and never the key', async () => {
    const echo = `bad key ${key} ${'secret contents '.repeat(100)}`;
    const { url } = await serve(json(401, { error: { message: echo } }));

    const error = await errorOf(client(url).complete(question));

    expect(error.message.length).toBeLessThan(280);
    expect(JSON.stringify([error.message, error.remedy, error.cause])).not.toContain(key);
  });

  it.each([
    { title: 'half a body of JSON', body: '{"type":"mess' },
    { title: 'a page of HTML', body: '<html>gateway</html>' },
    { title: 'nothing', body: '' },
    { title: 'null', body: 'null' },
    { title: 'a list', body: '[]' },
    { title: 'an object that is no answer', body: '{"ok":true}' },
    { title: 'a list where an object belongs', body: '{"choices":[[]],"content":"x"}' },
    { title: 'an error with HTTP 200', body: '{"type":"error","error":{"message":"overloaded"}}' },
  ])('takes $title for a failure of the provider', async ({ body }) => {
    const { url } = await serve(json(200, body));

    expect((await errorOf(client(url).complete(question))).code).toBe('upstream');
  });

  it('gives up on a server that does not answer in time', async () => {
    const { url } = await serve(() => {});

    const error = await errorOf(client(url, { timeoutMs: 30 }).complete(question));

    expect(error.message).toContain('did not answer within 30 ms');
  });

  it('gives up on a body that never ends', async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"content": [');
    });

    const error = await errorOf(client(url, { timeoutMs: 50 }).complete(question));

    expect(error.message).toContain('did not answer within');
  });

  it('throws the reason of the signal when it is aborted on the way', async () => {
    const controller = new AbortController();
    const reason = new Error('the user pressed escape');
    const { url } = await serve(() => controller.abort(reason));

    await expect(client(url).complete({ ...question, signal: controller.signal })).rejects.toBe(reason);
  });

  it('asks nobody when the signal is aborted already', async () => {
    const { url, received } = await serve(json(200, answer));

    await expect(client(url).complete({ ...question, signal: AbortSignal.abort('stop') })).rejects.toBe(
      'stop',
    );
    expect(received).toEqual([]);
  });

  it('says where it could not reach anybody', async () => {
    const { url } = await serve(json(200, answer));
    const server = servers.pop();
    await new Promise((resolve) => server?.close(resolve));

    const error = await errorOf(client(url).complete(question));

    expect(error.code).toBe('upstream');
    expect(error.message).toContain(url);
  });

  it('follows no redirect, which would carry the key elsewhere', async () => {
    const other = await serve(json(200, answer));
    const { url } = await serve((response) => {
      response.writeHead(307, { location: `${other.url}${path}` });
      response.end();
    });

    expect((await errorOf(client(url).complete(question))).code).toBe('upstream');
    expect(other.received).toEqual([]);
  });

  it.each(['', 'nonsense', 'file:///etc/passwd'])('refuses %j as a base URL', async (baseUrl) => {
    expect((await errorOf(client(baseUrl).complete(question))).code).toBe('usage');
  });

  it('refuses a key that no header can carry, without showing it', async () => {
    const error = await errorOf(client('http://127.0.0.1:1', { apiKey: `${key}\n` }).complete(question));
    const spaced = await errorOf(
      client('http://127.0.0.1:1', { apiKey: `${key}\u{1f511}` }).complete(question),
    );

    expect(spaced.code).toBe('usage');
    for (const { message, remedy, cause } of [error, spaced]) {
      expect(`${message} ${remedy} ${String(cause)}`).not.toContain(key);
    }
  });

  it('stops reading an answer that is larger than any summary', async () => {
    let chunks = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
        if (chunks === 40) controller.close();
      },
    });

    const fetch = async () => new Response(endless);
    const error = await errorOf(client('http://nowhere.invalid', { fetch }).complete(question));

    expect(error.message).toContain('larger than');
    expect(chunks).toBeLessThan(20);
  });

  it('asks through another fetch when it is given one', async () => {
    const fetch = async () => new Response(JSON.stringify(answer));

    expect((await client('http://nowhere.invalid', { fetch }).complete(question)).text).toBe('first second');
  });
});

describe('the stop reason of anthropicClient', () => {
  it.each([
    { stop_reason: 'end_turn', stop: 'end' },
    { stop_reason: 'stop_sequence', stop: 'end' },
    { stop_reason: 'max_tokens', stop: 'length' },
    { stop_reason: 'tool_use', stop: 'tool-call' },
    { stop_reason: 'refusal', stop: 'refusal' },
    { stop_reason: 'model_context_window_exceeded', stop: 'context-full' },
    { stop_reason: 'pause_turn', stop: 'other' },
    { stop_reason: null, stop: 'other' },
  ])('$stop_reason is $stop', async ({ stop_reason, stop }) => {
    const { url } = await serve(json(200, { ...anthropicAnswer, stop_reason }));

    expect((await anthropicClient({ model: 'm', baseUrl: url }).complete(question)).stop).toBe(stop);
  });

  it('is a tool call whenever there is one, whatever it says', async () => {
    const content = [{ type: 'tool_use', id: 't', name: 'read', input: {} }];
    const { url } = await serve(json(200, { ...anthropicAnswer, content }));

    expect(await anthropicClient({ model: 'm', baseUrl: url }).complete(question)).toMatchObject({
      text: '',
      stop: 'tool-call',
    });
  });

  it('works with a base URL that has the version in it', async () => {
    const { url, received } = await serve(json(200, anthropicAnswer));

    await anthropicClient({ model: 'm', baseUrl: `${url}/proxy/v1/` }).complete(question);

    expect(received[0]?.path).toBe('/proxy/v1/messages');
  });
});

describe('the stop reason of openaiClient', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  it.each([
    { finish_reason: 'stop', message: {}, stop: 'end' },
    { finish_reason: 'length', message: {}, stop: 'length' },
    { finish_reason: 'tool_calls', message: {}, stop: 'tool-call' },
    { finish_reason: 'content_filter', message: {}, stop: 'refusal' },
    { finish_reason: 'stop', message: { refusal: 'I will not' }, stop: 'refusal' },
    { finish_reason: 'stop', message: { content: null, tool_calls: [call] }, stop: 'tool-call' },
    { finish_reason: 'stop', message: { function_call: call.function }, stop: 'tool-call' },
    { finish_reason: 'stop', message: { content: null, refusal: null, tool_calls: [] }, stop: 'end' },
    { finish_reason: 'error', message: {}, stop: 'other' },
    { finish_reason: null, message: {}, stop: 'other' },
  ])('$finish_reason with $message is $stop', async ({ finish_reason, message, stop }) => {
    const { url } = await serve(json(200, { choices: [{ message, finish_reason }] }));

    const completion = await openaiClient({ model: 'm', baseUrl: url }).complete(question);

    expect(completion).toEqual({ text: '', stop, usage: undefined });
  });

  it('reads content in parts', async () => {
    const content = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }, 3];
    const { url } = await serve(json(200, { choices: [{ message: { content }, finish_reason: 'stop' }] }));

    expect((await openaiClient({ model: 'm', baseUrl: url }).complete(question)).text).toBe('ab');
  });

  it('takes an error inside of a choice for a failure', async () => {
    const choice = { error: { message: 'provider died' }, message: { content: 'half' } };
    const { url } = await serve(json(200, { choices: [choice] }));

    const error = await errorOf(openaiClient({ model: 'm', baseUrl: url }).complete(question));

    expect(error.message).toContain('provider died');
  });

  it.each([
    { baseUrl: 'https://api.openai.com/v1', field: 'max_completion_tokens' },
    { baseUrl: 'https://team.openai.azure.com/openai/v1', field: 'max_completion_tokens' },
    { baseUrl: 'https://openrouter.ai/api/v1', field: 'max_tokens' },
    { baseUrl: 'http://localhost:11434/v1', field: 'max_tokens' },
    { baseUrl: 'https://notopenai.com/v1', field: 'max_tokens' },
  ])('limits the answer by $field at $baseUrl', async ({ baseUrl, field }) => {
    const bodies: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)));
      return new Response(JSON.stringify(openaiAnswer));
    };

    await openaiClient({ model: 'm', baseUrl, fetch }).complete(question);
    await openaiClient({ model: 'm', baseUrl, fetch, outputLimitField: 'max_tokens' }).complete(question);

    expect(bodies[0]).toHaveProperty(field, 500);
    expect(bodies[1]).toHaveProperty('max_tokens', 500);
  });
});

describe('a prefix', () => {
  const anthropicBody = deepFreeze({
    model: 'other',
    system: [{ type: 'text', text: 'rules', cache_control: { type: 'ephemeral' } }],
    tools: [{ name: 'read', input_schema: { type: 'object' } }],
    tool_choice: { type: 'any' },
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { effort: 'high', format: { type: 'json_schema' } },
    max_tokens: 64_000,
    stream: true,
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
    ],
  });
  const openaiBody = deepFreeze({
    model: 'other',
    tools: [{ type: 'function', function: { name: 'read' } }],
    tool_choice: 'required',
    response_format: { type: 'json_object' },
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: 9,
    messages: [{ role: 'user', content: 'hello' }],
  });

  it('goes to Anthropic as it stands, with one more question and no tool to call', async () => {
    const { url, received } = await serve(json(200, anthropicAnswer));
    const prefix = anthropicMessages.read(anthropicBody);

    await anthropicClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix });

    const { stream: _stream, ...kept } = anthropicBody;
    expect(received[0]?.body).toEqual({
      ...kept,
      model: 'm',
      output_config: { effort: 'high' },
      tool_choice: { type: 'none' },
      max_tokens: 2500,
      messages: [
        ...anthropicBody.messages,
        { role: 'user', content: [{ type: 'text', text: question.prompt }] },
      ],
    });
  });

  it.each([
    { choice: undefined, sent: undefined },
    { choice: { type: 'auto', disable_parallel_tool_use: true }, sent: 'auto' },
    { choice: { type: 'none' }, sent: 'none' },
    { choice: { type: 'any' }, sent: 'none' },
    { choice: { type: 'tool', name: 'read' }, sent: 'none' },
  ])(
    'keeps the choice of tools that Anthropic caches under, unless it forces a call: $choice',
    async ({ choice, sent }) => {
      const { url, received } = await serve(json(200, anthropicAnswer));
      const prefix = anthropicMessages.read({ ...anthropicBody, tool_choice: choice });

      await anthropicClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix });

      const received0 = received[0]?.body['tool_choice'] as { type: string } | undefined;
      expect(received0?.type).toBe(sent);
      if (sent === choice?.type) expect(received0).toEqual(choice);
    },
  );

  it('goes to an OpenAI-compatible server as it stands, with one more question and no tool to call', async () => {
    const { url, received } = await serve(json(200, openaiAnswer));
    const prefix = openaiChat.read(openaiBody);

    await openaiClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix });

    expect(received[0]?.body).toEqual({
      model: 'm',
      tools: openaiBody.tools,
      tool_choice: 'none',
      max_tokens: 500,
      messages: [...openaiBody.messages, { role: 'user', content: expect.anything() }],
    });
    expect(JSON.stringify(received[0]?.body)).toContain(question.prompt);
  });

  it('without tools gets no choice of tools, which the APIs refuse', async () => {
    const { url, received } = await serve((response, { path }) =>
      json(200, path === '/v1/messages' ? anthropicAnswer : openaiAnswer)(response, {} as Received),
    );
    const messages = [{ role: 'user', content: 'hello' }];

    const anthropic = anthropicMessages.read({ system: 'x', messages, max_tokens: 1 });
    await anthropicClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix: anthropic });
    const openai = openaiChat.read({ messages, tool_choice: 'auto' });
    await openaiClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix: openai });

    expect(received).toHaveLength(2);
    for (const { body } of received) expect(body).not.toHaveProperty('tool_choice');
  });

  it('in another format, or as a bare list, is a mistake of the caller’s', async () => {
    const prefixes = [openaiChat.read(openaiBody), anthropicMessages.read([{ role: 'user', content: 'x' }])];
    const client = anthropicClient({ model: 'm', baseUrl: 'http://127.0.0.1:1' });
    for (const prefix of prefixes) {
      expect((await errorOf(client.complete({ ...question, prefix }))).code).toBe('usage');
    }
  });
});

describe('the cache marker of a prefix', () => {
  const marker = { type: 'ephemeral' };
  const text = (words: string, marked = false) => ({
    type: 'text',
    text: words,
    ...(marked ? { cache_control: marker } : {}),
  });
  const result = { type: 'tool_result', tool_use_id: 't', content: [text('inner', true)] };
  const user = (...content: readonly unknown[]) => ({ role: 'user', content });
  const last = user(text('newest', true));

  it.each([
    {
      title: 'a text becomes a block',
      end: { role: 'user', content: 'end' },
      marked: user(text('end', true)),
    },
    {
      title: 'the last block gets it',
      end: user(text('a', true), text('b')),
      marked: user(text('a'), text('b', true)),
    },
    {
      title: 'a marker inside of a result makes way',
      end: user(result),
      marked: user({ ...result, content: [text('inner')], cache_control: marker }),
    },
    {
      title: 'thinking and blank text carry none',
      end: { role: 'assistant', content: [text('a'), { type: 'thinking', thinking: 'x' }, text(' ')] },
      marked: {
        role: 'assistant',
        content: [text('a', true), { type: 'thinking', thinking: 'x' }, text(' ')],
      },
    },
    { title: 'nothing can carry one', end: user(), marked: user() },
    { title: 'it is there already', end: user(text('a', true)), marked: user(text('a', true)) },
  ])('$title', async ({ end, marked }) => {
    expect(await sentWith({ messages: [end, last] }, 1)).toEqual([marked]);
  });

  it.each([
    {
      title: 'no message is marked',
      body: { system: [text('s', true)], messages: [user(text('a')), user(text('b'))] },
    },
    {
      title: 'the request is marked as a whole',
      body: { cache_control: marker, messages: [user(text('a')), last] },
    },
    {
      title: 'there is no room',
      body: { system: [1, 2, 3, 4].map(() => text('s', true)), messages: [user(text('a')), last] },
    },
  ])('nothing changes where $title', async ({ body }) => {
    expect(await sentWith(body, 1)).toEqual([body.messages[0]]);
  });

  it('the oldest ones make way when there are too many', async () => {
    const messages = [
      user(text('a', true)),
      user(text('b', true)),
      user(text('c', true)),
      user(text('d')),
      last,
    ];
    const sent = await sentWith({ system: [text('s', true)], messages }, 4);

    expect(sent).toEqual([user(text('a')), messages[1], messages[2], user(text('d', true))]);
    expect(sent[1]).toEqual(messages[1]);
  });

  /** The messages before the question when the first `count` of a conversation are its prefix. */
  async function sentWith(body: object, count: number): Promise<readonly unknown[]> {
    const { url, received } = await serve(json(200, anthropicAnswer));
    const conversation = anthropicMessages.read(deepFreeze({ model: 'm', max_tokens: 9, ...body }));
    const prefix = withMessages(conversation, conversation.messages.slice(0, count));

    await anthropicClient({ model: 'm', baseUrl: url }).complete({ ...question, prefix });

    return (received[0]!.body['messages'] as unknown[]).slice(0, -1);
  }
});

describe('a streamed answer that nobody asked for (H27)', () => {
  /** A stream under the name of JSON; strings go out as they are. */
  const streamed = (...events: readonly unknown[]): Handler =>
    json(
      200,
      events
        .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
        .join(''),
    );
  const start = (text: string) => ({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text },
  });
  const piece = (text: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  });
  const begin = { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } };
  const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
    choices: [{ index: 0, delta, finish_reason }],
    ...rest,
  });
  const usage = { promptTokens: 9, outputTokens: 5 };
  const spent = { prompt_tokens: 9, completion_tokens: 5 };

  it.each([
    {
      title: 'whole',
      events: [begin, start(''), piece('a'), piece('b'), end],
      text: 'ab',
      stop: 'end',
      usage,
    },
    {
      title: 'text in the first event',
      events: [begin, start('a'), piece('b'), end],
      text: 'ab',
      stop: 'end',
      usage,
    },
    { title: 'no start of the block', events: [begin, piece('a'), end], text: 'a', stop: 'end', usage },
    {
      title: 'pings and unknown events',
      events: [{ type: 'ping' }, begin, { type: 'new' }, piece('a'), end],
      text: 'a',
      stop: 'end',
      usage,
    },
    {
      title: 'no end',
      events: [begin, piece('a')],
      text: 'a',
      stop: 'other',
      usage: { promptTokens: 9, outputTokens: 1 },
    },
    {
      title: 'a hole',
      events: [begin, piece('a'), '{"type":', piece('b'), end],
      text: 'a',
      stop: 'other',
      usage: { promptTokens: 9, outputTokens: 1 },
    },
    {
      title: 'no usage',
      events: [piece('a'), { ...end, usage: undefined }],
      text: 'a',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'a tool call',
      events: [
        begin,
        { ...start(''), content_block: { type: 'tool_use', id: 't', name: 'n', input: {} } },
        end,
      ],
      text: '',
      stop: 'tool-call',
      usage,
    },
  ])('is read by anthropicClient: $title', async ({ events, title: _title, ...completion }) => {
    const { url } = await serve(streamed(...events));

    expect(await anthropicClient({ model: 'm', baseUrl: url }).complete(question)).toEqual(completion);
  });

  it.each([
    {
      title: 'whole',
      events: [
        chunk({ content: 'a' }),
        chunk({ content: 'b' }),
        chunk({}, 'stop'),
        { choices: [], usage: spent },
        '[DONE]',
      ],
      text: 'ab',
      stop: 'end',
      usage,
    },
    {
      title: 'usage that grows',
      events: [
        chunk({ content: 'a' }, null, { usage: { ...spent, completion_tokens: 1 } }),
        chunk({}, 'stop', { usage: spent }),
      ],
      text: 'a',
      stop: 'end',
      usage,
    },
    {
      title: 'a whole message',
      events: [{ choices: [{ message: { content: 'ab' }, finish_reason: 'stop' }] }, '[DONE]'],
      text: 'ab',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'a whole message after its pieces',
      events: [chunk({ content: 'a' }), { choices: [{ message: { content: 'ab' }, finish_reason: 'stop' }] }],
      text: 'ab',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'content in parts',
      events: [chunk({ content: [{ type: 'text', text: 'a' }] }), chunk({ content: 'b' }, 'stop')],
      text: 'ab',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'another choice between',
      events: [
        chunk({ content: 'a' }),
        { choices: [{ index: 1, delta: { content: 'x' }, finish_reason: 'length' }] },
        chunk({}, 'stop'),
      ],
      text: 'a',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'reasoning',
      events: [chunk({ reasoning_content: 'hm', content: null }), chunk({ content: 'a' }, 'stop')],
      text: 'a',
      stop: 'end',
      usage: undefined,
    },
    {
      title: 'no end',
      events: [chunk({ content: 'a' }), '[DONE]'],
      text: 'a',
      stop: 'other',
      usage: undefined,
    },
    {
      title: 'a hole',
      events: [chunk({ content: 'a' }), '{"choices":', chunk({}, 'stop')],
      text: 'a',
      stop: 'other',
      usage: undefined,
    },
    {
      title: 'a tool call',
      events: [chunk({ tool_calls: [{ index: 0 }] }), chunk({ tool_calls: [] }, 'stop')],
      text: '',
      stop: 'tool-call',
      usage: undefined,
    },
    {
      title: 'a refusal',
      events: [chunk({ refusal: 'no' }), chunk({ refusal: '' }, 'stop')],
      text: '',
      stop: 'refusal',
      usage: undefined,
    },
  ])('is read by openaiClient: $title', async ({ events, title: _title, ...completion }) => {
    const { url } = await serve(streamed(...events));

    expect(await openaiClient({ model: 'm', baseUrl: url }).complete(question)).toEqual(completion);
  });

  it.each([
    {
      create: anthropicClient,
      events: [begin, piece('a'), { type: 'error', error: { message: 'Overloaded' } }],
    },
    {
      create: openaiClient,
      events: [chunk({}, null, { usage: spent }), { error: { message: 'Overloaded' } }],
    },
    { create: openaiClient, events: [{ choices: [{ error: { message: 'Overloaded' } }], usage: spent }] },
  ])('that fails on the way is an error with what was spent', async ({ create, events }) => {
    const { url } = await serve(streamed(...events));

    const error = await errorOf(create({ model: 'm', baseUrl: url }).complete(question));

    expect(error.message).toContain('Overloaded');
    expect(error.cause).toMatchObject({ status: 200, usage: { promptTokens: 9 } });
  });

  it.each([
    { create: anthropicClient, events: [{ ok: true }] },
    { create: anthropicClient, events: ['not JSON'] },
    { create: openaiClient, events: [{ ok: true }, '[DONE]'] },
    { create: openaiClient, events: [] },
  ])('that is no answer is none', async ({ create, events }) => {
    const { url } = await serve(streamed(...events));

    expect((await errorOf(create({ model: 'm', baseUrl: url }).complete(question))).code).toBe('upstream');
  });

  it('is asked for where that is wanted, usage included', async () => {
    const { url, received } = await serve(streamed(begin, piece('a'), end));
    const options = { model: 'm', baseUrl: url, streams: true };

    await anthropicClient(options).complete(question);
    await errorOf(openaiClient(options).complete(question));

    expect(received[0]?.headers.accept).toBe('text/event-stream');
    expect(received[0]?.body['stream']).toBe(true);
    expect(received[1]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('that takes too long gives what has come of it', async () => {
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of [begin, piece('a')]) response.write(`data: ${JSON.stringify(event)}\n\n`);
    });

    const client = anthropicClient({ model: 'm', baseUrl: url, timeoutMs: 200 });

    expect(await client.complete(question)).toMatchObject({
      text: 'a',
      stop: 'other',
      usage: { promptTokens: 9 },
    });
  });

  it('is left behind when the signal is aborted in the middle of it', async () => {
    const controller = new AbortController();
    const { url } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(begin)}\n\n`);
      setTimeout(() => controller.abort('enough'), 50);
    });

    const client = anthropicClient({ model: 'm', baseUrl: url });

    await expect(client.complete({ ...question, signal: controller.signal })).rejects.toBe('enough');
  });
});

describe('functionClient', () => {
  it('takes a string for a whole answer and a completion as it is', async () => {
    const completion = { text: 'cut', stop: 'length', usage: undefined } as const;

    expect(await functionClient(() => 'whole').complete(question)).toEqual({
      text: 'whole',
      stop: 'end',
      usage: undefined,
    });
    expect(await functionClient(async () => completion).complete(question)).toBe(completion);
  });

  it('hands the request on and has the name it was given', async () => {
    const seen: CompletionRequest[] = [];
    const client = functionClient((request) => {
      seen.push(request);
      return 'x';
    }, 'local');

    await client.complete(question);

    expect(client.model).toBe('local');
    expect(seen[0]).toBe(question);
  });

  it.each([
    {
      title: 'throws',
      complete: () => {
        throw new Error('broken');
      },
    },
    { title: 'rejects', complete: () => Promise.reject(new Error('broken')) },
  ])('turns what a function that $title gives into an upstream error', async ({ complete }) => {
    const error = await errorOf(functionClient(complete).complete(question));

    expect(error.code).toBe('upstream');
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('leaves errors of this package as they are', async () => {
    const own = new RoundfoldError('usage', 'wrong');

    expect(await errorOf(functionClient(() => Promise.reject(own)).complete(question))).toBe(own);
  });

  it('leaves a function behind that does not listen to the signal', async () => {
    const controller = new AbortController();
    const client = functionClient(() => {
      queueMicrotask(() => controller.abort('enough'));
      return new Promise<string>(() => {});
    });

    await expect(client.complete({ ...question, signal: controller.signal })).rejects.toBe('enough');
  });
});
