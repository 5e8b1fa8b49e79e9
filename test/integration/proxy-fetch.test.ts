import { afterEach, describe, expect, it } from 'vitest';
import { type RoundfoldFetch, withRoundfold } from '../../src/proxy/fetch.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Json } from '../support/anthropic-agent.ts';
import { resultText, startProxied, untilResults } from '../support/proxied.ts';
import { type Respond, startRecordingUpstream } from '../support/recording-upstream.ts';

const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

const echo: Respond = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'x-from': 'upstream' });
  response.end(request.body);
};

async function upstreamThat(respond: Respond = echo) {
  const upstream = await startRecordingUpstream(respond);
  running.push(upstream);
  return upstream;
}

/** A conversation that has outgrown a window of 32,000 tokens. */
const long: readonly Json[] = [
  ...Array.from({ length: 60 }, (_, turn) => [
    { role: 'user', content: resultText(`turn ${turn}`, 2500) },
    { role: 'assistant', content: `Answer ${turn}.` },
  ]).flat(),
  { role: 'user', content: 'What now?' },
];

const body = (messages: readonly Json[]) =>
  JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 500, messages });

describe('a wrapped fetch', () => {
  const small = body([{ role: 'user', content: 'Hello.' }]);
  const asRequests: readonly [string, (fetch: RoundfoldFetch, url: string) => Promise<Response>][] = [
    ['text', (fetch, url) => fetch(url, { method: 'POST', body: small })],
    ['bytes', (fetch, url) => fetch(url, { method: 'POST', body: new TextEncoder().encode(small) })],
    [
      'a buffer',
      (fetch, url) => fetch(url, { method: 'POST', body: new TextEncoder().encode(small).buffer }),
    ],
    ['a blob', (fetch, url) => fetch(url, { method: 'POST', body: new Blob([small]) })],
    ['a URL', (fetch, url) => fetch(new URL(url), { method: 'post', body: small })],
    ['a Request', (fetch, url) => fetch(new Request(url, { method: 'POST', body: small }))],
    [
      'a Request with other settings',
      (fetch, url) => fetch(new Request(url, { method: 'POST', body: 'x' }), { body: small }),
    ],
  ];

  it.each(asRequests)('sends %s on as it is', async (_what, send) => {
    const upstream = await upstreamThat();
    const response = await send(withRoundfold(fetch), `${upstream.url}/v1/messages`);
    expect(response.headers.get('x-roundfold-status')).toBe('unchanged');
    expect(response.headers.get('x-from')).toBe('upstream');
    expect(response.url).toBe(`${upstream.url}/v1/messages`);
    expect(await response.text()).toBe(small);
    expect(upstream.requests.at(-1)?.body.toString()).toBe(small);
  });

  it('leaves everything that is no request to a model to the fetch it wraps', async () => {
    const given: unknown[][] = [];
    const wrapped = withRoundfold(async (...args) => {
      given.push(args);
      return new Response('own');
    });
    const init = { method: 'POST', body: new ReadableStream() };
    expect(await (await wrapped('https://example.com/v1/files', init)).text()).toBe('own');
    expect(await (await wrapped('relative/path')).text()).toBe('own');
    expect(given).toEqual([['https://example.com/v1/files', init], ['relative/path']]);
  });

  it('folds, keeps the headers of the client, and strips its own', async () => {
    const upstream = await upstreamThat();
    const records: ExchangeRecord[] = [];
    const wrapped = withRoundfold(fetch, {
      windowTokens: 32_000,
      tenant: 'me',
      observer: { exchange: (record) => records.push(record) },
    });
    const send = (headers: Record<string, string>) =>
      wrapped(new Request(`${upstream.url}/v1/messages`, { method: 'POST', body: body(long), headers }));
    const folded = await send({ 'x-api-key': 'k', 'x-own': 'kept' });
    const sent = upstream.requests.at(-1)!;
    expect(['folded', 'reduced']).toContain(folded.headers.get('x-roundfold-status'));
    expect(sent.body.length).toBeLessThan(body(long).length / 2);
    expect(await folded.text()).toBe(sent.body.toString());
    expect([sent.header('x-own'), sent.header('x-api-key')]).toEqual(['kept', 'k']);
    expect(sent.header('content-length')).toBe(String(sent.body.length));
    await wrapped.settle();
    const bypassed = await send({ 'x-roundfold-bypass': '1' });
    expect(bypassed.headers.get('x-roundfold-reason')).toBe('bypassed');
    expect(upstream.requests.at(-1)?.header('x-roundfold-bypass')).toBeUndefined();
    expect(await bypassed.text()).toBe(body(long));
    expect(records.map(({ tenant }) => tenant)).toEqual(['me', 'me']);
  });

  it.each([false, true])('recovers from a window it did not know, streamed: %s', async (stream) => {
    const simulator = await startSimulator({
      windowTokens: 32_000,
      faults: [{ name: 'too-long-in-stream' }],
    });
    running.push(simulator);
    const learnt: unknown[] = [];
    const wrapped = withRoundfold(fetch, {
      observer: { windowLearnt: (...told) => learnt.push(told) },
    });
    const response = await wrapped(`${simulator.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'house-model', max_tokens: 500, stream, messages: long }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('too long');
    expect(learnt).toEqual([['house-model', 32_000]]);
  });

  it('ends what upstream sends when the client has read enough', async () => {
    const closed = Promise.withResolvers<void>();
    const upstream = await upstreamThat((_request, response) => {
      response.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const records: ExchangeRecord[] = [];
    const wrapped = withRoundfold(fetch, { observer: { exchange: (record) => records.push(record) } });
    const response = await wrapped(`${upstream.url}/v1/messages`, { method: 'POST', body: small });
    const reader = response.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe('data: 1\n\n');
    await reader.cancel();
    await closed.promise;
    expect(records.length).toBe(1);
  });

  it('throws what the fetch it wraps throws', async () => {
    const wrapped = withRoundfold(() => Promise.reject(new TypeError('no network')));
    const asked = wrapped('https://example.com/v1/messages', { method: 'POST', body: small });
    await expect(asked).rejects.toThrow('no network');
  });
});

describe('Gemini through the proxy', () => {
  it('is folded in its window as well, the model being in the path', async () => {
    const proxied = await startProxied(
      { windowTokens: 32_000, script: untilResults(10_000) },
      { windowTokens: 32_000 },
    );
    running.push(proxied);
    const { proxy, records, simulator } = proxied;
    const contents: Json[] = [{ role: 'user', parts: [{ text: 'Read all files and report.' }] }];
    const parameters = { type: 'OBJECT', properties: { path: { type: 'STRING' } }, required: ['path'] };
    for (let turn = 0; turn < 80; turn++) {
      const response = await fetch(`${proxy.url}/v1beta/models/gemini-2.5-pro:generateContent`, {
        method: 'POST',
        headers: { 'x-goog-api-key': 'k', 'content-type': 'application/json' },
        body: JSON.stringify({
          contents,
          tools: [
            { functionDeclarations: [{ name: 'read_file', description: 'Reads a file.', parameters }] },
          ],
        }),
      });
      const answer = (await response.json()) as { candidates: readonly { content: Json }[] };
      expect(response.status, JSON.stringify(answer)).toBe(200);
      const content = answer.candidates[0]!.content;
      const calls = (content['parts'] as readonly Json[]).filter(
        (part) => part['functionCall'] !== undefined,
      );
      contents.push(content, {
        role: 'user',
        parts: calls.map((part) => ({
          functionResponse: {
            name: (part['functionCall'] as Json)['name'],
            response: { output: resultText(`turn ${turn}`) },
          },
        })),
      });
    }
    expect(simulator.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(records.at(-1)).toMatchObject({ format: 'gemini', model: 'gemini-2.5-pro', status: 'folded' });
    expect(records.at(-1)?.usage?.promptTokens).toBeGreaterThan(0);
  });
});
