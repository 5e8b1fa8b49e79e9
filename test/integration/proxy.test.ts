import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import zlib from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { type Agent, createAgent, type Json } from '../support/anthropic-agent.ts';
import { resultText, startProxied, untilResults } from '../support/proxied.ts';
import {
  callsOfAnthropic,
  type RecordingUpstream,
  type Respond,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';

const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

const WINDOW = 32_000;
const START: readonly Json[] = [{ role: 'user', content: 'Read all files and report.' }];

interface Recorded {
  readonly proxy: RunningProxy;
  readonly upstream: RecordingUpstream;
  readonly records: ExchangeRecord[];
}

/** A proxy in front of a server that keeps every byte. */
async function record(
  options: Partial<ProxyOptions> = {},
  respond: Respond = callsOfAnthropic(),
): Promise<Recorded> {
  const upstream = await startRecordingUpstream(respond);
  running.push(upstream);
  const records: ExchangeRecord[] = [];
  const proxy = await startProxy({
    store: memoryStore(),
    upstreams: [{ url: upstream.url }],
    windowTokens: WINDOW,
    observer: { exchange: (each) => records.push(each) },
    ...options,
  });
  running.push(proxy);
  return { proxy, upstream, records };
}

async function simulate(...given: Parameters<typeof startProxied>) {
  const proxied = await startProxied(...given);
  running.push(proxied);
  return proxied;
}

const bodyOf = (upstream: RecordingUpstream, index = -1): Json =>
  JSON.parse(upstream.requests.at(index)!.body.toString()) as Json;

/** A message as it is but for the contents of its tool results. */
function withoutResults(message: string): string {
  return JSON.stringify(JSON.parse(message), function (this: Json, key, value: unknown) {
    return key === 'content' && this['type'] === 'tool_result' ? 'result' : value;
  });
}

/** Works until requests go out folded. */
async function untilFolded(
  { proxy, records }: Pick<Recorded, 'proxy' | 'records'>,
  agent: Agent,
  options = {},
) {
  for (let steps = 0; steps < 100; steps++) {
    await agent.work(1, options);
    await proxy.settle();
    if (records.at(-1)?.status === 'folded') return;
  }
  throw new Error(`nothing was folded: ${JSON.stringify(records.at(-1))}`);
}

describe('what goes to the provider', () => {
  it('keeps the bytes of its beginning from request to request, until the next compaction', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    let checks = 0;
    for (let step = 0; step < 60; step++) {
      await agent.work(1);
      const [before, after] = recorded.records.slice(-2);
      if (before?.checkpoint === undefined || before.checkpoint !== after?.checkpoint) continue;
      const [earlier, later] = recorded.upstream.requests.slice(-2).map(({ body }) => body);
      // All but the brackets that close the list and the body.
      const end = earlier!.lastIndexOf(']');
      expect(later!.subarray(0, end).equals(earlier!.subarray(0, end))).toBe(true);
      checks++;
    }
    expect(checks).toBeGreaterThan(30);
    expect(new Set(recorded.records.map(({ checkpoint }) => checkpoint)).size).toBeGreaterThan(2);
  });

  it('keeps cache markers with their lifetime where the client put them', async () => {
    const recorded = await record();
    const marker = { type: 'ephemeral', ttl: '1h' };
    const system = [{ type: 'text', text: 'Be careful.', cache_control: marker }];
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent, { fields: { system } });
    const last = agent.messages.at(-1)!;
    const content = (last['content'] as readonly Json[]).map((block) => ({
      ...block,
      cache_control: marker,
    }));
    agent.messages[agent.messages.length - 1] = { ...last, content };
    await agent.step({ fields: { system } });
    const sent = bodyOf(recorded.upstream);
    expect(recorded.records.at(-1)?.status).toBe('folded');
    expect(sent['system']).toEqual(system);
    expect((sent['messages'] as readonly Json[]).at(-1)).toEqual({ ...last, content });
  });

  it('holds the same fields, tools and headers as what the client sent, and no further ones', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    const fields = {
      metadata: { user_id: 'u' },
      tools: [{ name: 'read_file', input_schema: { type: 'object' } }],
    };
    const headers = {
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
      'x-claude-code-session-id': 'session-1',
    };
    await untilFolded(recorded, agent, { fields, headers });
    const { body, rawHeaders, header } = recorded.upstream.requests.at(-1)!;
    const sent = JSON.parse(body.toString()) as Json;
    expect(Object.keys(sent)).toEqual(['model', 'max_tokens', 'tools', 'messages', 'metadata']);
    for (const [name, value] of Object.entries(fields)) expect(sent[name]).toEqual(value);
    for (const [name, value] of Object.entries(headers)) expect(header(name.toLowerCase())).toBe(value);
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    const sentByClient = [
      ...Object.keys(headers).map((name) => name.toLowerCase()),
      ...['x-api-key', 'anthropic-version', 'content-type', 'content-length', 'accept', 'accept-language'],
      ...['sec-fetch-mode', 'user-agent', 'accept-encoding', 'host', 'connection'],
    ];
    expect(names.filter((name) => !sentByClient.includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(recorded.records.at(-1)?.client).toBe('claude-code');
  });

  it('is folded although the provider clears thinking, and that field goes on with the beta header it needs', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
    const beta = 'context-management-2025-06-27,interleaved-thinking-2025-05-14';
    await untilFolded(recorded, agent, {
      fields: { context_management },
      headers: { 'anthropic-beta': beta },
    });
    expect(bodyOf(recorded.upstream)['context_management']).toEqual(context_management);
    expect(recorded.upstream.requests.at(-1)!.header('anthropic-beta')).toBe(beta);
  });

  it('keeps the search for tools: deferred tools, the tool that finds them, and references to what was found', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    const tools = [
      { name: 'read_file', input_schema: { type: 'object' } },
      { name: 'find_tool', input_schema: { type: 'object' } },
      { name: 'found_later', input_schema: { type: 'object' }, defer_loading: true },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    ];
    await untilFolded(recorded, agent, { fields: { tools } });
    const found: readonly Json[] = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_find', name: 'find_tool', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_find',
            content: [{ type: 'tool_reference', tool_name: 'found_later' }],
          },
        ],
      },
    ];
    agent.messages.push(...found);
    await agent.step({ fields: { tools } });
    expect(recorded.records.at(-1)?.status).toBe('folded');
    const sent = bodyOf(recorded.upstream);
    expect(sent['tools']).toEqual(tools);
    expect((sent['messages'] as readonly Json[]).slice(-2)).toEqual(found);
  });

  it('carries the headers by which a provider finds the cache of a session, in their spelling', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const affinity = [
      ...['Session_Id', 'thread-1', 'session-id', 'thread-1', 'X-Session-Affinity', 'ses_ABC'],
      ...['x-client-request-id', 'thread-1', 'x-codex-window-id', 'thread-1:0', 'X-Session-Id', 'ses_ABC'],
    ];
    const body = JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 9, messages: agent.messages });
    const { hostname, port } = new URL(recorded.proxy.url);
    const request = httpRequest({
      ...{ hostname, port, method: 'POST', path: '/v1/messages' },
      headers: [
        ...['host', '127.0.0.1', 'x-api-key', 'test-key', ...affinity],
        ...['content-length', String(Buffer.byteLength(body))],
      ],
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    expect(response.headers['x-roundfold-status']).toBe('folded');
    const arrived = recorded.upstream.requests.at(-1)!.rawHeaders.join('\n');
    expect(arrived).toContain(affinity.join('\n'));
  });

  it('no longer holds what was folded, and nothing is written into the messages that stay', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const received = agent.messages.slice(0, -2).map((message) => JSON.stringify(message));
    const sent = (bodyOf(recorded.upstream)['messages'] as readonly Json[]).map((each) =>
      JSON.stringify(each),
    );
    const kept = sent.filter((message) => received.includes(message));
    const made = sent.filter((message) => !received.includes(message));
    expect(kept.length).toBeGreaterThan(2);
    expect(made.length).toBeGreaterThan(0);
    // In their order, and together at the end: whatever was made stands where the rest was.
    expect(kept).toEqual(received.filter((message) => kept.includes(message)));
    // Results may have left a message of the client; nothing else of it is changed, and nothing is written into it.
    const bare = new Set(received.map(withoutResults));
    expect(made.filter((message) => !bare.has(withoutResults(message)))).toEqual([]);
    expect(sent.join('')).not.toContain(resultText('toolu_3').slice(0, 600));
    expect(sent.join('').length).toBeLessThan(received.join('').length * 0.8);
  });

  it('keeps numbers, escapes and blanks of messages that stay as they were written', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const odd =
      '{ "role" : "user",\t"content":[{"type":"text","text":"caf\\u00e9 \\ud83d \\/ 1.0","x":1.0,"big":9007199254740993,"e":1E5}] }';
    const body = JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 1000, messages: agent.messages });
    const response = await fetch(`${recorded.proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-key', 'content-type': 'application/json' },
      body: `${body.slice(0, -2)} , ${odd}], "temperature": 1.0, "zeta" : 1e2 }`,
    });
    expect(response.headers.get('x-roundfold-status')).toBe('folded');
    const sent = recorded.upstream.requests.at(-1)!.body.toString();
    expect(sent.endsWith(` , ${odd}], "temperature": 1.0, "zeta" : 1e2 }`)).toBe(true);
    expect(sent.length).toBeLessThan(body.length);
  });
});

describe('what the client is told', () => {
  it('is that a request was folded only where fewer bytes and tokens went on, and never without a fold', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    const told: { status: string | null; checkpoint: string | null; shrank: boolean }[] = [];
    for (let step = 0; step < 60; step++) {
      const received = JSON.stringify(agent.messages).length;
      const { headers } = await agent.step();
      await recorded.proxy.settle();
      const sent = JSON.stringify(bodyOf(recorded.upstream)['messages']).length;
      const [before, after] = ['received', 'sent'].map((side) =>
        Number(headers.get(`x-roundfold-tokens-${side}`)),
      );
      expect(sent < received).toBe(after! < before!);
      told.push({
        status: headers.get('x-roundfold-status'),
        checkpoint: headers.get('x-roundfold-checkpoint'),
        shrank: sent < received,
      });
    }
    for (const { status, checkpoint, shrank } of told) {
      expect(status === 'folded').toBe(shrank);
      expect(checkpoint !== null).toBe(shrank);
    }
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set(['unchanged', 'folded']));
  });
});

describe('a compressed request', () => {
  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
  ])('is folded all the same, and goes on in plain JSON: %s', async (encoding, compress) => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const text = JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 9, messages: agent.messages });
    const response = await fetch(`${recorded.proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-key', 'content-encoding': encoding, 'content-type': 'application/json' },
      body: new Uint8Array(compress(text)),
    });
    expect(response.headers.get('x-roundfold-status')).toBe('folded');
    const { header, body } = recorded.upstream.requests.at(-1)!;
    expect(header('content-encoding')).toBeUndefined();
    expect(header('content-length')).toBe(String(body.length));
    expect((JSON.parse(body.toString()) as Json)['max_tokens']).toBe(9);
    expect(body.length).toBeLessThan(text.length);
  });
});

describe('odd bodies', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  it.each([
    ['nested 1,000 levels deep', `{"messages":[{"role":"user","content":${deep(1000)}}]}`],
    ['nested 200,000 levels deep', `{"messages":[{"role":"user","content":${deep(200_000)}}]}`],
    ['with half a character', '{"messages":[{"role":"user","content":"\\ud83d"}]}'],
    ['with a key that stands twice', '{"messages":[],"messages":[{"role":"user","content":"x"}]}'],
    [
      'with keys of objects',
      '{"__proto__":{"a":1},"messages":[{"role":"user","content":"x","constructor":1}]}',
    ],
    ['with messages that are none', '{"messages":[null,1,"x",[],{}]}'],
    ['with no messages', '{"messages":[]}'],
    ['that is a list', '[1,2]'],
    ['that is empty', ''],
  ])('pass as they came: %s', async (_what, body) => {
    const { proxy, upstream } = await record();
    for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
      const text = body.replaceAll('"messages"', path.endsWith('responses') ? '"input"' : '"messages"');
      const response = await fetch(`${proxy.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
        body: text,
      });
      expect(response.status).toBe(200);
      expect(['passed', 'unchanged']).toContain(response.headers.get('x-roundfold-status'));
      expect(upstream.requests.at(-1)!.body.toString()).toBe(text);
    }
    expect(({} as Json)['a']).toBeUndefined();
  });
});

describe('conversations are told apart', () => {
  it('by all of their content, although their first 100 kB are the same', async () => {
    const recorded = await record({ windowTokens: 100_000 });
    const long: readonly Json[] = [{ role: 'user', content: `Read all. ${resultText('long', 100_000)}` }];
    const first = createAgent(recorded.proxy.url, long);
    await untilFolded(recorded, first, { characters: 5000 });
    const folded = recorded.records.at(-1)?.checkpoint;
    // Others have the same beginning, and say something else in what was folded: early on, or further back.
    for (const place of [3, 7]) {
      const other = createAgent(recorded.proxy.url, first.messages);
      other.messages[place] = {
        role: 'assistant',
        content: [{ type: 'text', text: 'I shall do something else.' }],
      };
      other.messages[place + 1] = { role: 'user', content: 'Tell me about OTHER-CHAT instead.' };
      await other.step({ characters: 5000 });
      expect(recorded.records.at(-1)?.checkpoint).not.toBe(folded);
      expect(recorded.upstream.requests.at(-1)!.body.toString()).toContain('OTHER-CHAT');
    }
    await first.step({ characters: 5000 });
    expect(recorded.records.at(-1)?.checkpoint).toBe(folded);
    expect(recorded.upstream.requests.at(-1)!.body.toString()).not.toContain('OTHER-CHAT');
  });

  it('also where a sub-agent of the same session has the same first messages', async () => {
    const recorded = await record();
    const session = { 'x-claude-code-session-id': 'one-session' };
    const root = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, root, { headers: session });
    const folded = recorded.records.at(-1)?.checkpoint;
    const ofSub = { headers: { ...session, 'x-claude-code-agent-id': 'sub' } };
    const begun = createAgent(recorded.proxy.url, root.messages.slice(0, 5));
    await begun.step(ofSub);
    expect(recorded.records.at(-1)).toMatchObject({ status: 'unchanged', messages: 5 });
    expect((bodyOf(recorded.upstream)['messages'] as readonly Json[]).length).toBe(5);
    // Later it is as long as the root, and has read other things.
    const own = root.messages
      .slice(5)
      .map(
        (message) =>
          JSON.parse(
            JSON.stringify(message)
              .replaceAll('Reading file', 'SUB-AGENT reads')
              .replaceAll('toolu_', 'toolu_sub_'),
          ) as Json,
      );
    const grown = createAgent(recorded.proxy.url, [...root.messages.slice(0, 5), ...own]);
    await grown.step(ofSub);
    expect(recorded.records.at(-1)?.checkpoint).not.toBe(folded);
    expect(recorded.upstream.requests.at(-1)!.body.toString()).toContain('SUB-AGENT');
    await root.step({ headers: session });
    expect(recorded.records.at(-1)?.checkpoint).toBe(folded);
    expect(recorded.upstream.requests.at(-1)!.body.toString()).not.toContain('SUB-AGENT');
  });

  it('by whose key they come with', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START, 'key-of-alice');
    await untilFolded(recorded, agent);
    const tenants = new Set(recorded.records.map(({ tenant }) => tenant));
    const stranger = createAgent(recorded.proxy.url, agent.messages, 'key-of-bob');
    await stranger.step();
    const last = recorded.records.at(-1)!;
    expect(last.checkpoint).toBeUndefined();
    expect(tenants.has(last.tenant)).toBe(false);
    expect(JSON.stringify(recorded.records)).not.toContain('key-of');
  });
});

describe('a proxy of one person', () => {
  it('finds conversations again after the credential has changed', async () => {
    const recorded = await record({ tenant: 'me' });
    const agent = createAgent(recorded.proxy.url, START, 'token-of-today');
    await untilFolded(recorded, agent);
    const { checkpoint } = recorded.records.at(-1)!;
    await createAgent(recorded.proxy.url, agent.messages, 'token-of-tomorrow').step();
    expect(recorded.records.at(-1)).toMatchObject({ status: 'folded', checkpoint, tenant: 'me' });
  });
});

describe('a request that must not be touched', () => {
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hi.' },
  ];
  const input = [{ role: 'user', content: 'Hello.' }];

  it.each([
    {
      what: 'compaction by the provider',
      path: '/v1/messages',
      body: {
        model: 'claude-opus-4-6',
        max_tokens: 9,
        messages,
        context_management: { edits: [{ type: 'compact_20260112' }] },
      },
      reason: 'provider-compacts',
    },
    {
      what: "the client's own compaction",
      path: '/v1/messages',
      body: {
        model: 'claude-opus-4-6',
        max_tokens: 9,
        messages: [...messages, { role: 'user', content: 'CRITICAL: Respond with TEXT ONLY. Summarise.' }],
      },
      reason: 'client-compacts',
    },
    {
      what: 'a compaction trigger',
      path: '/v1/responses',
      body: { model: 'gpt-5', input: [...input, { type: 'compaction_trigger' }] },
      reason: 'client-compacts',
    },
    {
      what: 'a stored response',
      path: '/v1/responses',
      body: { model: 'gpt-5', input, previous_response_id: 'resp_1' },
      reason: 'provider-holds-history',
    },
    {
      what: 'a request that is no conversation',
      path: '/v1/chat/completions',
      body: { model: 'gpt-5', prompt: 'x' },
      reason: 'not-a-conversation',
    },
    {
      what: 'a count of a single text',
      path: '/v1/messages/count_tokens',
      body: { model: 'claude-opus-4-6', messages: [{ role: 'user', content: 'foo' }] },
      reason: 'fragment',
    },
  ])('passes as it came and says why: $what', async ({ path, body, reason }) => {
    const { proxy, upstream } = await record();
    const text = JSON.stringify(body, null, 1);
    const response = await fetch(`${proxy.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
      body: text,
    });
    expect(response.headers.get('x-roundfold-status')).toBe('passed');
    expect(response.headers.get('x-roundfold-reason')).toBe(reason);
    expect(upstream.requests.at(-1)!.body.toString()).toBe(text);
  });

  it('passes when its window is not known, and says so', async () => {
    const { proxy } = await record({ windowTokens: undefined });
    const agent = createAgent(proxy.url, START);
    const response = await agent.step({ fields: { model: 'nobody-knows-me' } });
    expect(response.headers.get('x-roundfold-reason')).toBe('unknown-model');
  });

  it('passes with the bypass header, which goes no further', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const text = JSON.stringify(agent.messages);
    const response = await agent.step({ headers: { 'x-roundfold-bypass': '1' } });
    expect(response.headers.get('x-roundfold-reason')).toBe('bypassed');
    const { header, body } = recorded.upstream.requests.at(-1)!;
    expect(header('x-roundfold-bypass')).toBeUndefined();
    expect(body.toString()).toContain(text);
  });

  it('passes always in observe mode, counted', async () => {
    const recorded = await record({ mode: 'observe' });
    const agent = createAgent(recorded.proxy.url, START);
    await agent.work(80);
    const last = recorded.records.at(-1)!;
    expect(last).toMatchObject({ status: 'passed', reason: 'observing', windowTokens: WINDOW });
    expect(last.tokensReceived).toBeGreaterThan(WINDOW);
    expect(new Set(recorded.records.map(({ status }) => status))).toEqual(new Set(['passed']));
    expect((bodyOf(recorded.upstream)['messages'] as readonly Json[]).length).toBe(agent.messages.length - 2);
  });

  it('goes to /responses/compact, where the provider compacts, as it came', async () => {
    const { proxy, upstream, records } = await record({}, (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"no such endpoint"}}');
    });
    const text = '{"model":"gpt-5","input":[ ]}';
    const response = await fetch(`${proxy.url}/v1/responses/compact`, { method: 'POST', body: text });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('{"error":{"message":"no such endpoint"}}');
    expect(upstream.requests.at(-1)!.body.toString()).toBe(text);
    expect(records.at(-1)).toMatchObject({ kind: 'compact', status: 'passed', httpStatus: 404 });
  });
});

describe('windows', () => {
  it.each([
    { model: 'claude-sonnet-4-5', beta: undefined, window: 200_000 },
    { model: 'claude-sonnet-4-5', beta: 'context-1m-2025-08-07', window: 1_000_000 },
    { model: 'claude-sonnet-4-5[1m]', beta: undefined, window: 1_000_000 },
    { model: 'claude-haiku-4-5', beta: 'context-1m-2025-08-07', window: 200_000 },
  ])(
    'are those that the client asked for, a million tokens included: $model with $beta has $window',
    async ({ model, beta, window }) => {
      const { proxy, records } = await record({ windowTokens: undefined });
      const agent = createAgent(proxy.url, START);
      await agent.step({ fields: { model }, headers: beta === undefined ? {} : { 'anthropic-beta': beta } });
      expect(records.at(-1)?.windowTokens).toBe(window);
    },
  );

  it('are learnt from a refusal, inside the same request, and told', async () => {
    const proxied = await simulate({ windowTokens: WINDOW, script: untilResults(1000) });
    const agent = createAgent(proxied.proxy.url, START);
    await agent.work(120);
    const { records, learnt, simulator } = proxied;
    expect(learnt).toEqual([['claude-sonnet-4-6', WINDOW]]);
    const recovered = records.filter(({ recoveries }) => recoveries > 0);
    expect(recovered.length).toBe(1);
    expect(recovered[0]).toMatchObject({ httpStatus: 200, windowTokens: WINDOW });
    expect(recovered[0]!.tokensSent).toBeLessThan(recovered[0]!.tokensReceived!);
    expect(simulator.requests.filter(({ status }) => status !== 200).length).toBe(1);
    expect(records.at(-1)).toMatchObject({ status: 'folded', windowTokens: WINDOW });
  });

  it('are learnt for models that nobody knows', async () => {
    const proxied = await simulate({ windowTokens: WINDOW, script: untilResults(1000) });
    const { proxy, records } = proxied;
    const messages: Json[] = [{ role: 'user', content: 'Go.' }];
    for (let turn = 0; turn < 60; turn++) {
      messages.push({ role: 'assistant', content: `Answer ${turn}.` });
      messages.push({ role: 'user', content: resultText(`turn ${turn}`, 2000) });
    }
    const response = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'house-model', max_tokens: 500, messages }),
    });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('x-roundfold-recoveries'))).toBeGreaterThan(0);
    expect(records.at(-1)).toMatchObject({ httpStatus: 200, windowTokens: expect.any(Number) });
  });

  it.each(['/v1/messages', '/v1/responses', '/v1/chat/completions'])(
    'are learnt at %s also where a stream has begun before it says that the prompt is too long',
    async (path) => {
      const { proxy, records, simulator } = await simulate({
        windowTokens: WINDOW,
        faults: [{ name: 'too-long-in-stream' }],
      });
      const list = Array.from({ length: 60 }, (_, turn) => [
        { role: 'user', content: resultText(`turn ${turn}`, 2500) },
        { role: 'assistant', content: `Answer ${turn}.` },
      ]).flat();
      const messages = [...list, { role: 'user', content: 'What now?' }];
      const limit = path.endsWith('responses') ? 'max_output_tokens' : 'max_tokens';
      const response = await fetch(`${proxy.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': 'k', authorization: 'Bearer k', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({
          model: 'my-house-model',
          stream: true,
          [limit]: 500,
          [path.endsWith('responses') ? 'input' : 'messages']: messages,
        }),
      });
      const text = await response.text();
      expect(text).not.toMatch(/too long|exceeds|maximum context|response\.failed/);
      expect(text).toMatch(/message_stop|response\.completed|\[DONE\]/);
      expect(Number(response.headers.get('x-roundfold-recoveries'))).toBeGreaterThan(0);
      expect(simulator.requests.length).toBeGreaterThan(1);
      while (records.length === 0) await wait(5);
      expect(records.at(-1)?.usage?.promptTokens ?? 1).toBeLessThan(WINDOW);
    },
  );

  it("leave upstream's own refusal to the client when nothing helps", async () => {
    const refusal =
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}';
    const { proxy, upstream, records } = await record({}, (_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json', 'x-Odd-Header': 'kept' });
      response.end(refusal);
    });
    const agent = createAgent(proxy.url, START);
    for (let turn = 0; turn < 10; turn++)
      agent.messages.push(
        { role: 'assistant', content: `Answer ${turn}.` },
        { role: 'user', content: resultText(`turn ${turn}`, 2000) },
      );
    const response = await agent.step();
    expect(response.status).toBe(400);
    expect(await response.text()).toBe(refusal);
    expect(response.headers.get('x-odd-header')).toBe('kept');
    expect(upstream.requests.length).toBeLessThanOrEqual(4);
    const sizes = upstream.requests.map(({ body }) => body.length);
    expect(sizes).toEqual(sizes.toSorted((left, right) => right - left));
    expect(records.at(-1)?.httpStatus).toBe(400);
  });
});

describe('counting', () => {
  it('counts what would be sent of a conversation that is folded', async () => {
    const recorded = await record();
    const agent = createAgent(recorded.proxy.url, START);
    await untilFolded(recorded, agent);
    const count = (messages: readonly Json[]) =>
      fetch(`${recorded.proxy.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'x-api-key': 'test-key', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'claude-sonnet-4-6', messages }),
      });
    const response = await count(agent.messages);
    expect(response.headers.get('x-roundfold-status')).toBe('folded');
    const counted = bodyOf(recorded.upstream)['messages'] as readonly Json[];
    await agent.step();
    expect(counted).toEqual(bodyOf(recorded.upstream)['messages']);
    expect(JSON.stringify(counted).length).toBeLessThan(JSON.stringify(agent.messages).length * 0.8);
  });

  it('of a single text or tool is what the provider says of it', async () => {
    const { proxy, simulator } = await simulate({}, { windowTokens: 2000 });
    const tool = { name: 'big', description: resultText('tool', 30_000), input_schema: { type: 'object' } };
    const body = { model: 'claude-sonnet-4-6', tools: [tool], messages: [{ role: 'user', content: 'foo' }] };
    const [through, direct] = await Promise.all(
      [proxy.url, simulator.url].map(async (url) => {
        const response = await fetch(`${url}/v1/messages/count_tokens`, {
          method: 'POST',
          headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
          body: JSON.stringify(body),
        });
        return (await response.json()) as { readonly input_tokens: number };
      }),
    );
    expect(through).toEqual(direct);
    expect(direct!.input_tokens).toBeGreaterThan(5000);
  });
});

describe('lists of models', () => {
  const providers = [
    {
      provider: 'Anthropic',
      path: '/v1/models',
      model: 'claude-sonnet-4-6',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      fields: ['max_input_tokens', 'max_tokens'],
    },
    {
      provider: 'OpenAI',
      path: '/v1/models',
      model: 'gpt-5',
      headers: { authorization: 'Bearer k' },
      fields: [],
    },
    {
      provider: 'Gemini',
      path: '/v1beta/models',
      model: 'gemini-2.5-pro',
      headers: { 'x-goog-api-key': 'k' },
      fields: ['inputTokenLimit', 'outputTokenLimit'],
    },
  ];

  it.each(providers)('pass byte for byte with the windows they name: $provider', async (given) => {
    const { proxy, simulator } = await simulate({}, { windowTokens: 20_000 });
    for (const target of [given.path, `${given.path}/${given.model}`, `${given.path}?limit=1000`]) {
      const [through, direct] = await Promise.all(
        [proxy.url, simulator.url].map(async (url) => {
          const response = await fetch(`${url}${target}`, { headers: given.headers });
          return { status: response.status, text: await response.text() };
        }),
      );
      expect(direct!.status).toBe(200);
      expect(through).toEqual(direct);
      for (const field of given.fields) expect(through!.text).toContain(`"${field}":`);
    }
  });

  it('pass with the fields by which other servers tell a window', async () => {
    const model = {
      id: 'house',
      context_length: 131072,
      max_model_len: 131_072,
      meta: { n_ctx_train: 8192 },
    };
    const text = JSON.stringify({ object: 'list', data: [model] }, null, 1);
    const { proxy } = await record({}, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(text);
    });
    expect(await (await fetch(`${proxy.url}/v1/models`)).text()).toBe(text);
  });
});

describe('a summarizer that fails', () => {
  it('changes nothing for the client: requests are folded with a memory of our own, which needs no credential', async () => {
    let asked = 0;
    const recorded = await record({
      summarizer: {
        name: 'broken',
        asksModel: true,
        summarize: () => {
          asked++;
          return Promise.reject(new Error('no key'));
        },
      },
    });
    const agent = createAgent(recorded.proxy.url, START);
    for (let step = 0; step < 200 && asked === 0; step++) {
      await agent.work(1);
      await recorded.proxy.settle();
    }
    const { length } = recorded.records;
    await agent.work(40);
    expect(asked).toBeGreaterThan(0);
    const later = recorded.records.slice(length);
    expect(new Set(later.map(({ status }) => status))).toEqual(new Set(['folded']));
    expect(later.every(({ httpStatus, tokensSent = 0 }) => httpStatus === 200 && tokensSent < WINDOW)).toBe(
      true,
    );
    // The memory speaks for messages that are gone.
    expect(JSON.stringify(bodyOf(recorded.upstream))).toContain('file-3.ts');
    expect(JSON.stringify(bodyOf(recorded.upstream))).not.toContain('"toolu_3"');
  });
});

describe('cancellation', () => {
  it('reaches upstream when the client leaves before and during an answer', async () => {
    const closed: string[] = [];
    const { proxy } = await record({}, (request, response) => {
      const name = request.target.includes('silent') ? 'silent' : 'talking';
      response.once('close', () => closed.push(name));
      if (name === 'silent') return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"ping"}\n\n');
    });
    const leave = new AbortController();
    const silent = fetch(`${proxy.url}/v1/messages?silent=1`, {
      method: 'POST',
      body: '{"messages":[]}',
      signal: leave.signal,
    });
    const talking = await fetch(`${proxy.url}/v1/messages`, {
      method: 'POST',
      body: '{"messages":[]}',
      signal: leave.signal,
    });
    expect((await talking.body!.getReader().read()).done).toBe(false);
    leave.abort();
    await expect(silent).rejects.toThrow();
    for (let tries = 0; closed.length < 2 && tries < 200; tries++) await wait(10);
    expect(closed.toSorted()).toEqual(['silent', 'talking']);
  });

  it('reaches the client when an answer breaks off: it never looks whole', async () => {
    const { proxy } = await record({}, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"message_start"}\n\n');
      setTimeout(() => response.destroy(), 20);
    });
    const response = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{"messages":[]}' });
    await expect(response.text()).rejects.toThrow();
  });
});
