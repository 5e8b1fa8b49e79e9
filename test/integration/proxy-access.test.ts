import { once } from 'node:events';
import { connect } from 'node:net';
import zlib from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { RoundfoldError } from '../../src/conversation/errors.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import {
  type RecordingUpstream,
  type Respond,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';

const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

const echo: Respond = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(request.body);
};

async function start(
  options: Partial<ProxyOptions> = {},
  respond = echo,
): Promise<{ readonly proxy: RunningProxy; readonly upstream: RecordingUpstream }> {
  const upstream = await startRecordingUpstream(respond);
  running.push(upstream);
  const proxy = await startProxy({ store: memoryStore(), upstreams: [{ url: upstream.url }], ...options });
  running.push(proxy);
  return { proxy, upstream };
}

/** What a server answers to bytes on a plain connection, until it closes it or stays silent. */
async function raw(url: string, bytes: string, quietMs = 300): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  socket.write(Buffer.from(bytes, 'latin1'));
  await Promise.race([once(socket, 'close'), new Promise((resolve) => setTimeout(resolve, quietMs))]);
  socket.destroy();
  return answer;
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

const post = (headers: string, body = '{}', path = '/v1/messages') =>
  `POST ${path} HTTP/1.1\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;

describe('where a proxy listens', () => {
  it.each([
    { host: '0.0.0.0', options: {} },
    { host: '0.0.0.0', options: { allowRemote: true } },
    { host: '0.0.0.0', options: { allowRemote: true, token: 'short' } },
    { host: '::', options: { token: 'long enough to be a token' } },
    { host: '192.168.0.1', options: {} },
    { host: '128.0.0.1', options: {} },
    { host: '127.0.0.1.example.com', options: {} },
  ])('it refuses to start at $host with $options', async ({ host, options }) => {
    const started = startProxy({ store: memoryStore(), host, ...options });
    await expect(started).rejects.toSatisfy((error) => RoundfoldError.is(error) && error.code === 'usage');
  });

  it('it refuses to start at a port that is taken, and says so', async () => {
    const { proxy } = await start();
    const again = startProxy({ store: memoryStore(), port: Number(new URL(proxy.url).port) });
    await expect(again).rejects.toThrow(/cannot listen/);
  });

  it('it asks for its token everywhere but for its health, and sends it to nobody', async () => {
    const token = 'a token of some length';
    const { proxy, upstream } = await start({ token });
    const ask = (headers: Record<string, string>) =>
      fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{}', headers });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ 'x-roundfold-token': 'another token' })).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await fetch(`${proxy.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${proxy.url}/healthz`)).status).toBe(200);
    expect((await ask({ 'x-roundfold-token': token, authorization: 'Bearer of-the-provider' })).status).toBe(
      200,
    );
    expect(upstream.requests.length).toBe(1);
    expect(JSON.stringify(upstream.requests)).not.toContain(token);
    expect(upstream.requests[0]?.header('authorization')).toBe('Bearer of-the-provider');
  });
});

describe('who may call', () => {
  it.each([
    ['localhost', 200],
    ['LOCALHOST:8787', 200],
    ['127.0.0.1', 200],
    ['[::1]:80', 200],
    ['evil.example', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['evil.example:8787', 421],
    ['127.0.0.2', 421],
    ['', 421],
  ])('a client that names the host %s gets %i', async (host, status) => {
    const { proxy, upstream } = await start();
    expect(statusOf(await raw(proxy.url, post(`host: ${host}\r\n`)))).toBe(status);
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0);
  });

  it.each(['https://evil.example', 'null', 'http://localhost:1', 'https://127.0.0.1'])(
    'a page of %s is refused',
    async (origin) => {
      const { proxy, upstream } = await start();
      const answer = await raw(proxy.url, post(`host: 127.0.0.1\r\norigin: ${origin}\r\n`));
      expect(statusOf(answer)).toBe(403);
      expect(answer.toLowerCase()).not.toContain('access-control-allow');
      expect(upstream.requests.length).toBe(0);
    },
  );

  it.each([
    ['https://proxy.example', 'proxy.example', 200],
    ['https://Proxy.Example', 'PROXY.example', 200],
    ['https://proxy.example:8443', 'proxy.example:8443', 200],
    ['http://proxy.example', 'proxy.example', 200],
    ['https://proxy.example:9999', 'proxy.example', 403],
    ['https://proxy.example', 'proxy.example:8443', 403],
    ['https://other.example', 'proxy.example', 403],
    ['https://proxy.example.evil.example', 'proxy.example', 403],
    ['https://evil.example', 'evil.example', 421],
    ['https://127.0.0.1', '127.0.0.1', 403],
    ['null', 'proxy.example', 403],
  ])('behind a TLS server, a page of %s that calls %s gets %i', async (origin, host, status) => {
    const { proxy, upstream } = await start({ hosts: ['Proxy.example'] });
    const answer = await raw(proxy.url, post(`host: ${host}\r\norigin: ${origin}\r\n`));
    expect(statusOf(answer)).toBe(status);
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0);
  });

  it('behind a TLS server, a page of any name is refused where none is listed, and one that comes from elsewhere', async () => {
    const token = 'a token of some length';
    const anyName = await start({ host: '0.0.0.0', allowRemote: true, token });
    const given = `host: any.example\r\norigin: https://any.example\r\nx-roundfold-token: ${token}\r\n`;
    expect(statusOf(await raw(anyName.proxy.url, post(given)))).toBe(403);
    const { proxy } = await start({ hosts: ['proxy.example'] });
    const crossing = 'host: proxy.example\r\norigin: https://proxy.example\r\nsec-fetch-site: cross-site\r\n';
    expect(statusOf(await raw(proxy.url, post(crossing)))).toBe(403);
  });

  it('names of its own can be added', async () => {
    const { proxy } = await start({ hosts: ['proxy.internal'] });
    expect(statusOf(await raw(proxy.url, post('host: proxy.internal:8787\r\n')))).toBe(200);
  });
});

describe('requests that could be read in two ways', () => {
  const hostLine = 'host: 127.0.0.1\r\n';
  const inner = 'GET /smuggled HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
  it.each([
    [
      'both lengths',
      `POST /v1/x HTTP/1.1\r\n${hostLine}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'two lengths',
      `POST /v1/x HTTP/1.1\r\n${hostLine}content-length: 0\r\ncontent-length: 44\r\n\r\n${inner}`,
    ],
    ['a length that is none', `POST /v1/x HTTP/1.1\r\n${hostLine}content-length: +5\r\n\r\nhello${inner}`],
    [
      'an unknown transfer encoding',
      `POST /v1/x HTTP/1.1\r\n${hostLine}transfer-encoding: xchunked\r\n\r\n${inner}`,
    ],
    [
      'chunked that is not last',
      `POST /v1/x HTTP/1.1\r\n${hostLine}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n${inner}`,
    ],
    ['a blank before the colon', `POST /v1/x HTTP/1.1\r\n${hostLine}content-length : 44\r\n\r\n${inner}`],
    ['a folded header', `POST /v1/x HTTP/1.1\r\n${hostLine}content-length: 0\r\n x: y\r\n\r\n${inner}`],
    [
      'a bad chunk size',
      `POST /v1/x HTTP/1.1\r\n${hostLine}transfer-encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n${inner}`,
    ],
    ['no host', `POST /v1/x HTTP/1.1\r\ncontent-length: 0\r\n\r\n${inner}`],
    ['a bare carriage return in a header', `POST /v1/x HTTP/1.1\r\n${hostLine}x: a\rb: c\r\n\r\n${inner}`],
    ['another host in the request line', `GET http://evil.example/ HTTP/1.1\r\n${hostLine}\r\n`],
  ])('are refused: %s', async (_what, bytes) => {
    const { proxy, upstream } = await start();
    const answer = await raw(proxy.url, bytes);
    expect(statusOf(answer)).toBeGreaterThanOrEqual(400);
    expect(upstream.requests.map(({ target }) => target)).not.toContain('/smuggled');
    expect(upstream.requests.length).toBe(0);
  });

  it('a tunnel is not opened', async () => {
    const { proxy } = await start();
    expect(await raw(proxy.url, 'CONNECT evil.example:443 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')).toBe('');
  });

  it('redirects are passed on and not followed', async () => {
    const { proxy, upstream } = await start({}, (_request, response) => {
      response.writeHead(307, { location: 'http://evil.example/' });
      response.end();
    });
    const response = await fetch(`${proxy.url}/v1/messages`, {
      method: 'POST',
      body: '{}',
      redirect: 'manual',
    });
    expect(response.status).toBe(307);
    expect(upstream.requests.length).toBe(1);
  });
});

describe('limits', () => {
  it.each([
    ['/v1/messages', { type: 'error', error: { type: 'request_too_large' } }],
    ['/v1/chat/completions', { error: { type: 'invalid_request_error' } }],
    ['/v1beta/models/gemini-2.5-pro:generateContent', { error: { code: 413, status: 'INVALID_ARGUMENT' } }],
  ])('a body that is too large is refused in the words of %s', async (path, body) => {
    const { proxy, upstream } = await start({ limits: { bodyBytes: 1000 } });
    const ask = (size: number) => fetch(`${proxy.url}${path}`, { method: 'POST', body: 'x'.repeat(size) });
    expect((await ask(1000)).status).toBe(200);
    const refused = await ask(1001);
    expect(refused.status).toBe(413);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toMatchObject(body);
    expect(upstream.requests.length).toBe(1);
  });

  it('a body without a length counts as it comes', async () => {
    const { proxy, upstream } = await start({ limits: { bodyBytes: 1000 } });
    const chunk = 'x'.repeat(600);
    const answer = await raw(
      proxy.url,
      `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n258\r\n${chunk}\r\n258\r\n${chunk}\r\n0\r\n\r\n`,
    );
    expect(statusOf(answer)).toBe(413);
    expect(upstream.requests.length).toBe(0);
  });

  it.each([
    ['gzip', zlib.gzipSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
    ['deflate', zlib.deflateSync],
  ])('what unpacks to more than that is refused: %s', async (encoding, compress) => {
    const { proxy, upstream } = await start({ limits: { bodyBytes: 1024 * 1024 } });
    const bomb = compress(Buffer.alloc(200 * 1024 * 1024, '0'));
    expect(bomb.length).toBeLessThan(1024 * 1024);
    const before = process.memoryUsage().arrayBuffers;
    const response = await fetch(`${proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-encoding': encoding },
      body: new Uint8Array(bomb),
    });
    expect(response.status).toBe(413);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(upstream.requests.length).toBe(0);
  });

  it('more requests than allowed are told to come back', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { proxy } = await start({ limits: { streams: 2 } }, async (request, response) => {
      await held;
      await echo(request, response, undefined as never);
    });
    const ask = () => fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{}' });
    const first = [ask(), ask()];
    let refused = await ask();
    for (let tries = 0; refused.status !== 429 && tries < 50; tries++) refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
    release?.();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await ask()).status).toBe(200);
  });

  it('clients that send their headers or their body drop by drop are cut off, and others are served meanwhile', async () => {
    const { proxy, upstream } = await start({
      limits: { headersMilliseconds: 300, requestMilliseconds: 600 },
    });
    const { hostname, port } = new URL(proxy.url);
    const slow = [
      'GET /healthz HTTP/1.1\r\nhost: 127',
      'POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{',
    ];
    const sockets = Array.from({ length: 60 }, (_, index) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => socket.destroy());
      socket.on('data', () => undefined);
      socket.write(slow[index % 2] ?? '');
      return once(socket, 'close');
    });
    const served = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{}' });
    expect(served.status).toBe(200);
    await Promise.all(sockets);
    expect(upstream.requests.length).toBe(1);
  });

  it('headers that are too large are refused', async () => {
    const { proxy, upstream } = await start();
    const answer = await raw(proxy.url, post(`host: 127.0.0.1\r\nx-long: ${'a'.repeat(70_000)}\r\n`));
    expect(statusOf(answer)).toBe(431);
    expect(upstream.requests.length).toBe(0);
  });
});

describe('errors of the proxy itself', () => {
  it.each([
    ['/v1/messages', { type: 'error', error: { type: 'api_error' } }],
    ['/v1/responses', { error: { type: 'server_error', code: 'upstream_unavailable' } }],
    ['/v1beta/models/gemini-2.5-pro:countTokens', { error: { code: 502, status: 'UNAVAILABLE' } }],
  ])('say at %s that upstream is away, and not where it is', async (path, body) => {
    const { proxy, upstream } = await start();
    await upstream.close();
    running.splice(0, 1);
    const response = await fetch(`${proxy.url}${path}`, { method: 'POST', body: '{"key":"sk-secret"}' });
    expect(response.status).toBe(502);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject(body);
    expect(text).not.toContain(new URL(upstream.url).port);
    expect(text).not.toContain('secret');
  });

  it('refuse a WebSocket with 426, so that the client goes on over HTTP', async () => {
    const { proxy, upstream } = await start();
    const answer = await raw(
      proxy.url,
      'GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(426);
    expect(upstream.requests.length).toBe(0);
    expect((await fetch(`${proxy.url}/v1/responses`, { method: 'POST', body: '{}' })).status).toBe(200);
  });

  it('say that no upstream takes a path', async () => {
    const { proxy } = await start({ upstreams: [{ url: 'http://127.0.0.1:9', path: '/local' }] });
    expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(404);
  });
});

describe('pages of the proxy itself', () => {
  it('are answered by whoever has them, behind the same checks', async () => {
    const { proxy, upstream } = await start({
      pages: (request, response) => {
        if (request.url !== '/metrics') return false;
        response.end('numbers');
        return true;
      },
    });
    expect(await (await fetch(`${proxy.url}/metrics`)).text()).toBe('numbers');
    expect((await fetch(`${proxy.url}/roundfold/`)).status).toBe(404);
    expect((await fetch(`${proxy.url}/roundfold/../../etc/passwd`)).status).not.toBe(500);
    expect(statusOf(await raw(proxy.url, 'GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n'))).toBe(421);
    expect(upstream.requests.filter(({ target }) => target.startsWith('/roundfold'))).toEqual([]);
  });
});

describe('several upstreams', () => {
  it('are chosen by path, by model and by format', async () => {
    const reply =
      (name: string): Respond =>
      (_request, response) => {
        response.end(name);
      };
    const [local, large, rest] = await Promise.all(
      ['local', 'large', 'rest'].map((name) => startRecordingUpstream(reply(name))),
    );
    running.push(local!, large!, rest!);
    const { proxy } = await start({
      upstreams: [
        { url: `${local!.url}/base/v1`, path: '/local' },
        { url: large!.url, model: 'large-*' },
        { url: rest!.url, format: 'openai-chat' },
      ],
    });
    const ask = async (path: string, model: string) =>
      (
        await fetch(`${proxy.url}${path}`, {
          method: 'POST',
          body: JSON.stringify({ a: [{ model: 1 }], model }),
        })
      ).text();
    expect(await ask('/local/v1/chat/completions', 'large-1')).toBe('local');
    expect(local!.requests.at(-1)?.target).toBe('/base/v1/chat/completions');
    expect(await ask('/v1/messages', 'large-1')).toBe('large');
    expect(await ask('/v1/chat/completions', 'small')).toBe('rest');
    expect(await ask('/v1/messages', 'small')).toContain('no upstream');
  });
});

describe('the end of a proxy', () => {
  it('lets answers come to their end, and takes no new requests', async () => {
    let finish: (() => void) | undefined;
    const { proxy } = await start({}, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: begun\n\n');
      finish = () => response.end('data: done\n\n');
    });
    const response = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{}' });
    const reader = response.body!.getReader();
    await reader.read();
    const closed = proxy.close({ drainMilliseconds: 10_000 });
    await expect(fetch(`${proxy.url}/healthz`)).rejects.toThrow();
    finish?.();
    const { value } = await reader.read();
    expect(Buffer.from(value!).toString()).toBe('data: done\n\n');
    expect((await reader.read()).done).toBe(true);
    await closed;
  });

  it('breaks off what takes too long', async () => {
    const { proxy } = await start({}, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: begun\n\n');
    });
    const response = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{}' });
    await proxy.close({ drainMilliseconds: 50 });
    await expect(response.text()).rejects.toThrow();
  });
});
