import { request } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/simulator/reply.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts';
import { capturedRequests, capturesAreMissing } from '../support/client-captures.ts';

// What agent clients ask of a provider besides well-formed requests.

const running: Simulator[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});

async function start(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator(options);
  running.push(simulator);
  return simulator;
}

const openaiHeaders = { authorization: 'Bearer sk-test', 'content-type': 'application/json' };
const question = {
  model: 'gpt-5',
  store: false,
  input: [{ role: 'user', content: 'Which tides has Brest?' }],
};

function post(
  simulator: Simulator,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
) {
  return fetch(`${simulator.url}/v1/responses`, {
    method: 'POST',
    headers: { ...openaiHeaders, ...headers },
    body: Buffer.from(body),
  });
}

describe('a WebSocket upgrade', () => {
  function upgrade(simulator: Simulator, headers: Readonly<Record<string, string>>) {
    return new Promise<{ readonly status: number | undefined; readonly text: string }>((done, fail) => {
      const sent = request(`${simulator.url}/v1/responses`, {
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          'sec-websocket-version': '13',
          ...headers,
        },
      });
      sent.on('upgrade', () => fail(new Error('upgraded')));
      sent.on('error', fail);
      sent.on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
        });
        response.on('end', () => done({ status: response.statusCode, text }));
      });
      sent.end();
    });
  }

  it.each([
    {
      client: 'OpenAI',
      headers: { authorization: 'Bearer sk-test' },
      body: { error: { type: 'invalid_request_error' } },
    },
    { client: 'Anthropic', headers: { 'x-api-key': 'sk-test' }, body: { type: 'error' } },
  ])('of a client of $client is answered with 426 in its own shape, and HTTP works on', async (given) => {
    const simulator = await start();
    const { status, text } = await upgrade(simulator, given.headers);
    expect(status).toBe(426);
    expect(JSON.parse(text)).toMatchObject(given.body);
    expect(simulator.requests.map((recorded) => recorded.status)).toEqual([426]);
    expect((await post(simulator, JSON.stringify(question))).status).toBe(200);
  });
});

describe('a compressed body', () => {
  const plain = Buffer.from(JSON.stringify(question));

  it.each([
    { encoding: 'gzip', bytes: gzipSync(plain) },
    { encoding: 'deflate', bytes: deflateSync(plain) },
    { encoding: 'Deflate', bytes: deflateRawSync(plain) },
    { encoding: 'br', bytes: brotliCompressSync(plain) },
    { encoding: 'zstd', bytes: zstdCompressSync(plain) },
    { encoding: 'gzip, zstd', bytes: zstdCompressSync(gzipSync(plain)) },
    { encoding: 'identity', bytes: plain },
  ])('in $encoding is read', async ({ encoding, bytes }) => {
    const simulator = await start();
    const response = await post(simulator, bytes, { 'content-encoding': encoding });
    expect(response.status).toBe(200);
    expect(simulator.requests[0]?.body).toEqual(question);
  });

  it.each([
    { title: 'in an encoding that nobody knows', encoding: 'lzma', bytes: plain, status: 415 },
    { title: 'that is not what it says', encoding: 'zstd', bytes: plain, status: 400 },
    { title: 'that ends too early', encoding: 'gzip', bytes: gzipSync(plain).subarray(0, -9), status: 400 },
    {
      title: 'that grows beyond 32 MiB',
      encoding: 'br',
      bytes: brotliCompressSync(Buffer.alloc(33 * 1024 * 1024, 32)),
      status: 413,
    },
    { title: 'packed again and again', encoding: 'gzip, gzip, gzip, gzip', bytes: plain, status: 415 },
  ])('$title is refused', async ({ encoding, bytes, status }) => {
    const simulator = await start();
    const response = await post(simulator, bytes, { 'content-encoding': encoding });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  });
});

describe('reasoning that comes back', () => {
  async function sendBack(options: SimulatorOptions, change: (item: Record<string, unknown>) => object) {
    const simulator = await start(options);
    const first = (await (await post(simulator, JSON.stringify(question))).json()) as {
      output: Record<string, unknown>[];
    };
    const input = [
      ...question.input,
      ...first.output.map((item) => (item['type'] === 'reasoning' ? change(item) : item)),
      { role: 'user', content: 'And Cadiz?' },
    ];
    return (await post(simulator, JSON.stringify({ ...question, input }))).status;
  }
  const withoutId = ({ id: _id, ...item }: Record<string, unknown>) => item;

  it('without its id is taken, with another id it is not, and a strict provider wants the id', async () => {
    expect(await sendBack({}, withoutId)).toBe(200);
    expect(await sendBack({}, (item) => ({ ...item, id: `rs_${'0'.repeat(48)}` }))).toBe(400);
    expect(await sendBack({ needsReasoningIds: true }, withoutId)).toBe(400);
    expect(await sendBack({ needsReasoningIds: true }, (item) => item)).toBe(200);
  });
});

describe('tools that are no functions', () => {
  const call = (name: string, input: Record<string, unknown>): Reply => ({
    parts: [{ type: 'tool-call', name, input }],
  });
  const tools = [
    { type: 'custom', name: 'apply_patch', description: 'Patches.' },
    { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
    { type: 'web_search' },
  ];

  it('are called in their own shapes, whole and streamed alike, and their results are taken', async () => {
    const replies = [
      call('apply_patch', { input: '*** Begin Patch' }),
      call('tool_search', { query: 'calendar' }),
      call('web_search', { query: 'tides of Brest' }),
    ];
    const simulator = await start({ script: ({ number }) => replies[(number - 1) % 3] ?? { parts: [] } });
    const client = new OpenAI({ apiKey: 'any', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const asked = { model: 'gpt-4.1', store: false, tools: tools as OpenAI.Responses.Tool[] };
    const whole: OpenAI.Responses.ResponseOutputItem[] = [];
    for (const _reply of replies) {
      whole.push(...(await client.responses.create({ ...asked, input: 'Begin.' })).output);
    }
    const streamed: OpenAI.Responses.ResponseOutputItem[] = [];
    for (const _reply of replies) {
      const events = await client.responses.create({ ...asked, input: 'Begin.', stream: true });
      for await (const event of events) {
        if (event.type === 'response.output_item.done') streamed.push(event.item);
      }
    }
    const expected = [
      { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'calendar' } },
      { type: 'web_search_call', action: { type: 'search', query: 'tides of Brest' } },
    ];
    expect(whole).toMatchObject(expected);
    expect(streamed).toMatchObject(expected);

    const idOf = (item: unknown) => (item as { call_id: string }).call_id;
    const input = [
      { role: 'user', content: 'Begin.' },
      whole[0],
      { type: 'custom_tool_call_output', call_id: idOf(whole[0]), output: 'patched' },
      whole[1],
      {
        type: 'tool_search_output',
        call_id: idOf(whole[1]),
        execution: 'client',
        status: 'completed',
        tools: [],
      },
      whole[2],
      { role: 'user', content: 'Go on.' },
    ];
    const answer = await client.responses.create({
      ...asked,
      input: input as OpenAI.Responses.ResponseInput,
    });
    expect(answer.status).toBe('completed');
    const unpaired = { ...asked, input: [whole[0], { role: 'user', content: 'Go on.' }] };
    expect((await post(simulator, JSON.stringify(unpaired))).status).toBe(400);
  });

  it('of Anthropic run at the provider: call and result come in one answer, whole and streamed alike', async () => {
    const searches = [
      call('web_search', { query: 'tides' }),
      call('tool_search_tool_regex', { pattern: 'calendar' }),
    ];
    const simulator = await start({ script: ({ number }) => searches[(number - 1) % 2] ?? { parts: [] } });
    const client = new Anthropic({ apiKey: 'any', baseURL: simulator.url, maxRetries: 0 });
    const asked = {
      model: 'claude-sonnet-4-5',
      max_tokens: 500,
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        {
          name: 'read_calendar',
          description: 'Reads.',
          input_schema: { type: 'object' },
          defer_loading: true,
        },
      ],
      messages: [{ role: 'user', content: 'Begin.' }],
    } as unknown as Anthropic.MessageCreateParamsNonStreaming;
    const whole = [await client.messages.create(asked), await client.messages.create(asked)];
    const streamed = [
      await client.messages.stream(asked).finalMessage(),
      await client.messages.stream(asked).finalMessage(),
    ];
    for (const [search, tools] of [whole, streamed]) {
      expect(search).toMatchObject({
        stop_reason: 'end_turn',
        content: [
          { type: 'server_tool_use', name: 'web_search', input: { query: 'tides' } },
          { type: 'web_search_tool_result', content: [{ type: 'web_search_result' }] },
        ],
      });
      expect(tools?.content).toMatchObject([
        { type: 'server_tool_use', name: 'tool_search_tool_regex' },
        {
          type: 'tool_search_tool_result',
          content: { tool_references: [{ type: 'tool_reference', tool_name: 'read_calendar' }] },
        },
      ]);
    }
    const messages = [
      ...asked.messages,
      { role: 'assistant' as const, content: [...(whole[0]?.content ?? []), ...(whole[1]?.content ?? [])] },
      { role: 'user' as const, content: 'Go on.' },
    ] as Anthropic.MessageParam[];
    expect((await client.messages.create({ ...asked, messages })).stop_reason).toBe('end_turn');
  });

  it('may stand in namespaces, which an item of the input adds', async () => {
    const simulator = await start({ script: () => call('exec', { input: 'list()' }) });
    const added = {
      type: 'additional_tools',
      role: 'developer',
      tools: [
        { type: 'namespace', name: 'functions', description: '', tools: [{ type: 'custom', name: 'exec' }] },
      ],
    };
    const input = [added, { role: 'user', content: 'Begin.' }];
    const response = await post(simulator, JSON.stringify({ model: 'gpt-4.1', store: false, input }));
    expect(await response.json()).toMatchObject({
      output: [{ type: 'custom_tool_call', namespace: 'functions', name: 'exec', input: 'list()' }],
    });
  });

  it('of Chat Completions are called with a text', async () => {
    const simulator = await start({ script: () => call('patch', { input: 'a – b' }) });
    const client = new OpenAI({ apiKey: 'any', baseURL: `${simulator.url}/v1`, maxRetries: 0 });
    const asked = {
      model: 'gpt-4.1',
      messages: [{ role: 'user', content: 'Begin.' }],
      tools: [{ type: 'custom', custom: { name: 'patch' } }],
    } as const;
    const whole = await client.chat.completions.create({
      ...asked,
      messages: [...asked.messages],
      tools: [...asked.tools],
    });
    expect(whole.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'custom', custom: { name: 'patch', input: 'a – b' } },
    ]);
    const events = await client.chat.completions.create({
      ...asked,
      messages: [...asked.messages],
      tools: [...asked.tools],
      stream: true,
    });
    let input = '';
    for await (const { choices } of events) {
      const delta = choices[0]?.delta.tool_calls?.[0] as { custom?: { input?: string } } | undefined;
      input += delta?.custom?.input ?? '';
    }
    expect(input).toBe('a – b');
  });
});

describe('a prompt behind a compaction item', () => {
  it('counts what the developer and the user said before it, and nothing else', async () => {
    const simulator = await start();
    const count = async (input: readonly object[]): Promise<number> => {
      const response = await fetch(`${simulator.url}/v1/responses/input_tokens`, {
        method: 'POST',
        headers: openaiHeaders,
        body: JSON.stringify({ model: 'gpt-5', input }),
      });
      return ((await response.json()) as { input_tokens: number }).input_tokens;
    };
    const compacted = (await (
      await fetch(`${simulator.url}/v1/responses/compact`, {
        method: 'POST',
        headers: openaiHeaders,
        body: JSON.stringify(question),
      })
    ).json()) as { output: Record<string, unknown>[] };
    const compaction = compacted.output.at(-1) ?? {};
    expect(compaction['type']).toBe('compaction');
    const tail = [compaction, { role: 'user', content: 'Go on.' }];
    const said = { role: 'developer', content: 'Speak of tides and of nothing else. '.repeat(40) };
    const answered = { role: 'assistant', content: 'High water is at six. '.repeat(40) };
    const alone = await count(tail);
    expect(await count([answered, ...tail])).toBe(alone);
    expect(await count([said, ...tail])).toBeGreaterThan(alone + 100);
  });
});

describe('requests that real clients have sent', () => {
  const captures = capturedRequests();
  it.skipIf(captures.length === 0)(
    captures.length === 0 ? `skipped: ${capturesAreMissing}` : 'are answered, foreign seals aside',
    async () => {
      const simulator = await start();
      const refused: string[] = [];
      for (const { file, url, headers, body } of captures) {
        const { 'content-length': _length, host: _host, connection: _connection, ...kept } = headers;
        const keys = { 'x-api-key': 'sk-test', authorization: 'Bearer sk-test' };
        const response = await fetch(`${simulator.url}${url}`, {
          method: 'POST',
          headers: { ...kept, ...keys },
          body: JSON.stringify(body),
        });
        await response.arrayBuffer();
        const { rule } = simulator.requests.at(-1) ?? {};
        // Their thoughts were sealed by another provider, or cut out of a longer conversation.
        if (!response.ok && !foreignSeals.has(rule ?? ''))
          refused.push(`${file}: ${response.status} ${rule}`);
      }
      expect(refused).toEqual([]);
    },
  );
});

const foreignSeals: ReadonlySet<string> = new Set([
  'encrypted-content-invalid',
  'thinking-signature-invalid',
  'thought-signature-invalid',
]);
