import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RoundfoldError } from '../../core/errors.ts';
import type { CompletionRequest, ModelClient } from '../../core/model-client.ts';
import { anthropicMessages } from '../../formats/anthropic-messages.ts';
import { openaiChat } from '../../formats/openai-chat.ts';
import { parseOverflow } from '../../formats/overflow/detect.ts';
import { deepFreeze } from '../../testing/deep-freeze.ts';
import { anthropicClient } from './anthropic.ts';
import type { HttpClientOptions } from './client-options.ts';
import { functionClient } from './function.ts';
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
