import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { listening } from '../support/listening.ts';
import {
  type RecordingUpstream,
  type Respond,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';

const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

async function proxyFor(url: string, options: Partial<ProxyOptions> = {}): Promise<RunningProxy> {
  const proxy = await startProxy({ store: memoryStore(), upstreams: [{ url }], ...options });
  running.push(proxy);
  return proxy;
}

async function upstreamThat(respond: Respond): Promise<RecordingUpstream> {
  const upstream = await startRecordingUpstream(respond);
  running.push(upstream);
  return upstream;
}

interface Received {
  readonly status: number;
  readonly statusText: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly rawTrailers: readonly string[];
}

/** A request over a plain connection: no library adds, unpacks or reorders anything of the answer. */
async function send(
  url: string,
  {
    method = 'POST',
    path = '/v1/messages',
    headers = {},
    body,
  }: {
    method?: string;
    path?: string;
    headers?: Readonly<Record<string, string | readonly string[]>>;
    body?: Uint8Array | undefined;
  },
): Promise<Received> {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(body.length) };
  const request = httpRequest({ hostname, port, method, path, headers: { ...headers, ...length } as never });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { statusCode = 0, statusMessage = '', rawHeaders, rawTrailers } = response;
  return {
    status: statusCode,
    statusText: statusMessage,
    rawHeaders,
    body: Buffer.concat(chunks),
    rawTrailers,
  };
}

/** Headers that do not belong to one connection, ours left out. */
function lasting(rawHeaders: readonly string[]): readonly string[] {
  const left: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (['connection', 'keep-alive', 'transfer-encoding', 'host'].includes(name)) continue;
    if (!name.startsWith('x-roundfold-')) left.push(rawHeaders[index]!, rawHeaders[index + 1]!);
  }
  return left;
}

const stream = Buffer.from(
  [
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7}}}\n\n',
    ': a comment — ✓ 🙂\r\n\r\n',
    'event: ping\r\ndata:{"type":"ping"}\r\n\r\n',
    'data: {"type":"content_block_delta","delta":{"text":"naïve 日本語 🙂"}}\n\n',
    'event: unknown_event\rdata: anything at all\r\r',
    'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":5}}\n\n',
    'data: [DONE]\n\n',
  ].join(''),
);

describe('bytes of an answer', () => {
  it('are the same however its stream is cut into pieces, at every single byte', async () => {
    const cuts = [...Array(stream.length - 1).keys()].map((index) => index + 1);
    let cut = 0;
    const upstream = await upstreamThat(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stream.subarray(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      response.end(stream.subarray(cut));
    });
    const usages: unknown[] = [];
    const proxy = await proxyFor(upstream.url, { observer: { exchange: ({ usage }) => usages.push(usage) } });
    for (cut of cuts) {
      const { body } = await send(proxy.url, { body: Buffer.from('{"messages":[]}') });
      expect(body.equals(stream), `cut at ${cut}`).toBe(true);
    }
    expect(usages.length).toBe(cuts.length);
    expect(new Set(usages.map((usage) => JSON.stringify(usage))).size).toBe(1);
    expect(usages[0]).toMatchObject({ promptTokens: 7, outputTokens: 5 });
  });

  it('are the same when every byte comes alone', async () => {
    const upstream = await upstreamThat(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of stream) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const proxy = await proxyFor(upstream.url);
    expect((await send(proxy.url, { body: Buffer.from('{"messages":[]}') })).body.equals(stream)).toBe(true);
  });

  it('come one by one, as soon as they are there', async () => {
    let next: (() => void) | undefined;
    const upstream = await upstreamThat(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      for (let count = 0; count < 3; count++) {
        await new Promise<void>((resolve) => {
          next = resolve;
        });
        response.write(`data: ${count}\n\n`);
      }
      response.end();
    });
    const proxy = await proxyFor(upstream.url);
    const response = await fetch(`${proxy.url}/v1/messages`, { method: 'POST', body: '{"messages":[]}' });
    const reader = response.body!.getReader();
    for (let count = 0; count < 3; count++) {
      // The next one is not even written before this one has been read.
      next?.();
      const { value } = await reader.read();
      expect(Buffer.from(value!).toString()).toBe(`data: ${count}\n\n`);
    }
  });

  it('and its status, reason, headers in their order and spelling, and trailers pass', async () => {
    const answer =
      'HTTP/1.1 299 Odd Reason\r\nX-Second: b\r\nx-first: a\r\nSet-Cookie: one=1\r\nSET-COOKIE: two=2\r\nX-Latin: caf\xe9\r\n' +
      'request-id: req_1\r\nanthropic-ratelimit-tokens-remaining: 12\r\nTrailer: X-Checksum\r\ntransfer-encoding: chunked\r\n\r\n' +
      '4\r\nbody\r\n0\r\nX-Checksum: 99\r\n\r\n';
    const server = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.write(Buffer.from(answer, 'latin1')));
    });
    const url = await listening(server);
    const proxy = await proxyFor(url);
    const received = await send(proxy.url, { method: 'GET', path: '/anything' });
    expect(received.status).toBe(299);
    expect(received.statusText).toBe('Odd Reason');
    expect(lasting(received.rawHeaders)).toEqual([
      ...[
        'X-Second',
        'b',
        'x-first',
        'a',
        'Set-Cookie',
        'one=1',
        'SET-COOKIE',
        'two=2',
        'X-Latin',
        'caf\xe9',
      ],
      ...['request-id', 'req_1', 'anthropic-ratelimit-tokens-remaining', '12', 'Trailer', 'X-Checksum'],
    ]);
    expect(received.body.toString()).toBe('body');
    expect(received.rawTrailers).toEqual(['X-Checksum', '99']);
  });

  it.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
  ])('pass compressed with %s, and what they report is read all the same', async (encoding, compress) => {
    const packed = compress('{"usage":{"input_tokens":11,"output_tokens":3}}');
    const upstream = await upstreamThat((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
      response.end(packed);
    });
    const usages: unknown[] = [];
    const proxy = await proxyFor(upstream.url, { observer: { exchange: ({ usage }) => usages.push(usage) } });
    const { body, rawHeaders } = await send(proxy.url, { body: Buffer.from('{"messages":[]}') });
    expect(body.equals(packed)).toBe(true);
    expect(rawHeaders).toContain(encoding);
    while (usages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(usages).toMatchObject([{ promptTokens: 11, outputTokens: 3 }]);
  });

  it.each([204, 304, 400, 401, 404, 409, 418, 429, 500, 503, 529])('pass with status %i', async (status) => {
    const text = status === 204 || status === 304 ? '' : `{"error":{"message":"status ${status}"}}`;
    const upstream = await upstreamThat((_request, response) => {
      response.writeHead(status, { 'x-should-retry': 'true', 'retry-after': '7' });
      response.end(text);
    });
    const proxy = await proxyFor(upstream.url);
    const received = await send(proxy.url, { body: Buffer.from('{"messages":[]}') });
    expect(received.status).toBe(status);
    expect(received.body.toString()).toBe(text);
    expect(lasting(received.rawHeaders).join(' ')).toContain('retry-after 7');
  });
});

describe('an answer that is easily changed', () => {
  async function throughProxy(answer: string) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.write(Buffer.from(answer, 'latin1')));
    });
    const proxy = await proxyFor(await listening(server));
    return send(proxy.url, { method: 'GET', path: '/v1/models' });
  }

  it('passes as a 304 that tells the length of the body it leaves out', async () => {
    const { status, body, rawHeaders } = await throughProxy(
      'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 1234\r\n\r\n',
    );
    expect([status, body.length]).toEqual([304, 0]);
    expect(lasting(rawHeaders)).toEqual(['ETag', '"1"', 'Content-Length', '1234']);
  });

  it('passes as a stream whose headers are not ASCII, with their bytes', async () => {
    const { rawHeaders, body } = await throughProxy(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Name: caf\xe9 \xfc\r\nContent-Length: 9\r\n\r\ndata: 1\n\n',
    );
    expect(rawHeaders[rawHeaders.indexOf('X-Name') + 1]).toBe('caf\xe9 \xfc');
    expect(body.toString()).toBe('data: 1\n\n');
  });
});

describe('bytes of a request', () => {
  let upstream: RecordingUpstream;
  let proxy: RunningProxy;

  beforeAll(async () => {
    upstream = await startRecordingUpstream((request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.end(request.body);
    });
    proxy = await startProxy({ store: memoryStore(), upstreams: [{ url: upstream.url }] });
  });

  afterAll(async () => {
    await proxy.close();
    await upstream.close();
  });

  const paths = [
    '/v1/messages',
    '/v1/chat/completions',
    '/v1/responses',
    '/v1beta/models/gemini-2.5-pro:generateContent',
    '/v1/embeddings',
    '/a/path?with=a%20query&key=value#no',
  ];

  it('go on as they came and come back as they went, whatever they are', async () => {
    const json = fc
      .record({ model: fc.string(), messages: fc.array(fc.jsonValue()), x: fc.jsonValue() })
      .map((value) => Buffer.from(JSON.stringify(value, null, 2)));
    const bytes = fc.oneof(
      json,
      fc.uint8Array({ maxLength: 5000 }).map((array) => Buffer.from(array)),
      fc.string({ unit: 'binary', maxLength: 300 }).map((text) => Buffer.from(`{"messages":[${text}`)),
    );
    const token = fc.stringMatching(/^[a-z][a-z-]{0,12}[a-z]$/).map((name) => `x-odd-${name}`);
    const values = fc.stringMatching(/^[!-~\xa1-\xff]([ !-~\xa1-\xff]{0,30}[!-~\xa1-\xff])?$/);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
        bytes,
        fc.uniqueArray(fc.tuple(token, values), { maxLength: 5, selector: ([name]) => name }),
        async (path, method, body, headers) => {
          const received = await send(proxy.url, {
            path,
            method,
            body,
            headers: Object.fromEntries(headers),
          });
          const arrived = upstream.requests.at(-1)!;
          expect(received.body.equals(body)).toBe(true);
          expect(arrived.body.equals(body)).toBe(true);
          expect(arrived.method).toBe(method);
          expect(arrived.target).toBe(path);
          expect(lasting(arrived.rawHeaders)).toEqual([
            ...headers.flat(),
            // To say of a deletion that it has no body is to say nothing.
            ...(body.length === 0 && method === 'DELETE' ? [] : ['content-length', String(body.length)]),
          ]);
        },
      ),
      { numRuns: 400 },
    );
  });

  it.each([0, 1, 65_535, 65_536, 1_000_000, 33_554_432])('go on when there are %i of them', async (size) => {
    const filler = Buffer.alloc(Math.max(0, size - 40), 'a');
    const body =
      size < 50
        ? Buffer.alloc(size, '1')
        : Buffer.concat([Buffer.from('{"messages":[],"x":"'), filler, Buffer.from('"}')]);
    const received = await send(proxy.url, { body });
    expect(received.body.equals(body)).toBe(true);
    expect(upstream.requests.at(-1)!.body.equals(body)).toBe(true);
  });

  const conversation = Buffer.from(
    JSON.stringify({
      model: 'claude-sonnet-4-6',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  );

  it.each([
    ['gzip', zlib.gzipSync(conversation)],
    ['deflate', zlib.deflateSync(conversation)],
    ['br', zlib.brotliCompressSync(conversation)],
    ['zstd', zlib.zstdCompressSync(conversation)],
  ])(
    'go on compressed with %s when nothing is changed, and are read all the same',
    async (encoding, packed) => {
      const received = await send(proxy.url, {
        body: packed,
        headers: { 'content-encoding': encoding, 'x-api-key': 'k' },
      });
      const arrived = upstream.requests.at(-1)!;
      expect(arrived.body.equals(packed)).toBe(true);
      expect(arrived.header('content-encoding')).toBe(encoding);
      const status = received.rawHeaders[received.rawHeaders.indexOf('x-roundfold-status') + 1];
      expect(status).toBe('unchanged');
    },
  );

  it.each([
    ['an encoding that nobody knows', 'exotic', Buffer.from('whatever')],
    ['an encoding that it is not in', 'gzip', Buffer.from('{"messages":[]}')],
    ['several encodings', 'gzip, br', zlib.gzipSync(conversation)],
  ])('go on as they are with %s', async (_what, encoding, body) => {
    const received = await send(proxy.url, { body, headers: { 'content-encoding': encoding } });
    expect(received.body.equals(body)).toBe(true);
    expect(upstream.requests.at(-1)!.header('content-encoding')).toBe(encoding);
  });

  it('stream through where nobody has to read them', async () => {
    const { hostname, port } = new URL(proxy.url);
    const request = httpRequest({ hostname, port, method: 'POST', path: '/v1/files' });
    request.write('first ');
    setTimeout(() => request.end('second'), 20);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('first second');
  });
});

describe('a slow reader', () => {
  it('holds the sender up instead of filling memory', async () => {
    let written = 0;
    const total = 400 * 64 * 1024;
    const upstream = await upstreamThat(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = Buffer.alloc(64 * 1024, 'x');
      while (written < total) {
        written += chunk.length;
        if (!response.write(chunk)) await once(response, 'drain');
      }
      response.end();
    });
    const proxy = await proxyFor(upstream.url);
    const { hostname, port } = new URL(proxy.url);
    const socket = connect(Number(port), hostname);
    socket.write('POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n{}');
    await once(socket, 'readable');
    socket.pause();
    let before = -1;
    while (before !== written) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(written).toBeLessThan(total);
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.resume();
    while (received < total) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(written).toBe(total);
    socket.destroy();
  });
});

describe('a thousand streams at once', () => {
  it('get their own answers, also while others leave', async () => {
    const waiting: (() => void)[] = [];
    const upstream = await upstreamThat(async (request, response) => {
      const nonce = request.header('x-nonce') ?? '';
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-nonce': nonce });
      response.write(`data: ${nonce} first\n\n`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      response.end(`data: ${nonce} ${request.body.toString()}\n\n`);
    });
    const opened = { now: 0, most: 0 };
    const proxy = await proxyFor(upstream.url, {
      observer: {
        streamOpened: () => {
          opened.most = Math.max(opened.most, ++opened.now);
        },
        streamClosed: () => {
          opened.now--;
        },
      },
    });
    const { hostname, port } = new URL(proxy.url);
    const ask = (index: number) =>
      new Promise<string>((resolve, reject) => {
        const body = JSON.stringify({ messages: [{ role: 'user', content: `body ${index}` }] });
        const headers = { 'x-nonce': `nonce-${index}`, 'content-length': Buffer.byteLength(body) };
        const asked = httpRequest({
          hostname,
          port,
          method: 'POST',
          path: '/v1/messages',
          headers,
          agent: false,
        });
        asked.on('error', reject);
        asked.on('response', (response) => {
          let text = '';
          response.on('data', (chunk: Buffer) => {
            text += chunk.toString();
            // Every seventh has seen enough.
            if (index % 7 === 0) asked.destroy();
          });
          response.on('close', () => resolve(text));
          response.on('error', () => resolve(text));
        });
        asked.end(body);
      });
    const answers = Array.from({ length: 1000 }, (_, index) => ask(index).catch(() => ''));
    while (waiting.length < 1000) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const answer of waiting) answer();
    for (const [index, text] of (await Promise.all(answers)).entries()) {
      const first = `data: nonce-${index} first\n\n`;
      if (index % 7 === 0) expect(text === '' || text.startsWith(first)).toBe(true);
      else
        expect(text).toBe(
          `${first}data: nonce-${index} ${JSON.stringify({ messages: [{ role: 'user', content: `body ${index}` }] })}\n\n`,
        );
    }
    expect(opened.most).toBeGreaterThan(800);
    while (opened.now > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
