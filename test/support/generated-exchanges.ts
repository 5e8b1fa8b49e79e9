import zlib from 'node:zlib';
import fc from 'fast-check';
import type { Framing, RawMessage } from './raw-http.ts';

/** A request and its answer, and how both are written to their connections. */
export interface GeneratedExchange {
  readonly method: string;
  readonly path: string;
  readonly request: GeneratedMessage;
  readonly answer: GeneratedMessage & {
    /** Answers before the answer. */
    readonly interim: readonly string[];
  };
}

export interface GeneratedMessage extends Omit<RawMessage, 'start'> {
  /** Of an answer: status and reason. */
  readonly status: string;
  readonly framing: Framing;
  /** Where its body is cut into chunks, and where all its bytes are cut into packets. */
  readonly chunkCuts: readonly number[];
  readonly packetCuts: readonly number[];
  /** What it is an example of. */
  readonly kind: string;
}

const paths = [
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/chat/completions',
  '/openai/deployments/house/chat/completions?api-version=2026-01-01',
  '/v1/responses',
  '/v1/responses/compact',
  '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  '/v1/models',
  '/v1/embeddings',
  '/v1/files/file_1/content',
  "/a/path?with=a%20query&key=value&also=%C3%A9/;:@!$'()*+,",
];

const requestNames = [
  ...['X-Odd', 'x-odd', 'X-ODD-Case', 'anthropic-beta', 'Anthropic-Version', 'OpenAI-Organization'],
  ...['Authorization', 'x-api-key', 'Cookie', 'cookie', 'Session_Id', 'x_under.dot', 'Accept', 'User-Agent'],
  ...['Accept-Encoding', 'Content-Type', 'traceparent', 'X-Stainless-Retry-Count', '!#$%&*+-^`|~'],
];
const answerNames = [
  ...['X-Odd', 'x-odd', 'Set-Cookie', 'SET-COOKIE', 'Date', 'Server', 'request-id', 'Retry-After', 'via'],
  ...['anthropic-ratelimit-tokens-remaining', 'openai-processing-ms', 'Content-Type', 'ETag', 'x_under.dot'],
  ...['Vary', 'Cache-Control', 'x-should-retry', 'Strict-Transport-Security', '!#$%&*+-^`|~'],
];

/** What a header may hold: visible characters, those of Latin-1 too, blanks and tabs between them, or nothing. */
const headerValue = fc.stringMatching(/^(?:[!-~\xa1-\xff](?:[\t !-~\xa1-\xff]{0,40}[!-~\xa1-\xff])?)?$/);

const headersFrom = (names: readonly string[], maxLength: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...names), headerValue), { maxLength })
    .map((headers): readonly string[] => headers.flat());

interface Content {
  readonly kind: string;
  readonly body: Buffer;
  readonly headers: readonly string[];
}

const plain = (kind: string, body: Buffer | string): Content => ({
  kind,
  body: Buffer.from(body),
  headers: [],
});

const MEBIBYTE = 1024 * 1024;
/** Lengths at which buffers, windows and limits change. */
const lengths = [1, 16_383, 16_384, 65_535, 65_536, 65_537, 1_000_000];

const conversation = fc
  .record({
    model: fc.constantFrom('claude-sonnet-4-6', 'gpt-5', 'nobody-knows-me'),
    messages: fc.array(
      fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: fc.string() }),
    ),
    input: fc.array(fc.record({ role: fc.constant('user'), content: fc.string() })),
    stream: fc.boolean(),
    extra: fc.jsonValue(),
  })
  .chain((value) =>
    fc.constantFrom(
      JSON.stringify(value),
      JSON.stringify(value, null, '\t'),
      ` ${JSON.stringify(value).replaceAll('/', '\\/')} \n`,
    ),
  );

const events = fc
  .array(
    fc.tuple(fc.constantFrom('\n', '\r\n', '\r'), fc.constantFrom('data', 'event', 'id', ''), fc.string()),
  )
  .map((lines) => lines.map(([end, field, text]) => `${field}: ${text}${end}${end}`).join(''))
  .map((text) => `data: {"usage":{"input_tokens":7}}\n\n${text}data: [DONE]\n\n`);

const failure = fc
  .tuple(fc.constantFrom('invalid_request_error', 'overloaded_error', 'rate_limit_error'), fc.string())
  .map(([type, message]) => JSON.stringify({ type: 'error', error: { type, message } }));

const text: fc.Arbitrary<Content> = fc.oneof(
  conversation.map((body) => plain('conversation', body)),
  fc.jsonValue().map((value) => plain('json', JSON.stringify(value))),
  events.map((body) => ({ ...plain('events', body), headers: ['Content-Type', 'text/event-stream'] })),
  failure.map((body) => plain('error', body)),
  fc.string({ unit: 'binary' }).map((body) => plain('half', `{"messages":[${body}`)),
);

const packers = [
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ['zstd', zlib.zstdCompressSync],
] as const;

const packed = fc.tuple(text, fc.constantFrom(...packers)).map(
  ([content, [encoding, pack]]): Content => ({
    kind: 'compressed',
    body: pack(content.body),
    headers: [...content.headers, 'Content-Encoding', encoding],
  }),
);

const content: fc.Arbitrary<Content> = fc.oneof(
  { weight: 600, arbitrary: text },
  { weight: 200, arbitrary: packed },
  { weight: 100, arbitrary: fc.constant(plain('empty', '')) },
  {
    weight: 100,
    arbitrary: fc.uint8Array({ maxLength: 3000 }).map((bytes) => plain('binary', Buffer.from(bytes))),
  },
  {
    weight: 30,
    arbitrary: fc.constant({ ...plain('wrongly-encoded', '{"a":1}'), headers: ['content-encoding', 'gzip'] }),
  },
  {
    weight: 60,
    arbitrary: fc.constantFrom(...lengths).map((length) => plain('long', Buffer.alloc(length, 'x'))),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(8 * MEBIBYTE, 32 * MEBIBYTE)
      .map((length) => plain('huge', Buffer.alloc(length, '{"messages":[]} '))),
  },
);

const cuts = fc.oneof(
  fc.constant([]),
  fc.array(fc.nat({ max: 600 }), { maxLength: 6 }),
  fc.array(fc.nat({ max: 100_000 }), { maxLength: 6 }),
  // Every byte of the first two hundred alone.
  fc.constant(Array.from({ length: 200 }, (_, index) => index + 1)),
);

const bodiless: Content = plain('nothing', '');

const request = fc
  .constantFrom('POST', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD')
  .chain((method) => {
    const hasBody = method !== 'GET' && method !== 'HEAD';
    return fc.record({
      method: fc.constant(method),
      path: fc.constantFrom(...paths),
      own: headersFrom(requestNames, 8),
      content: hasBody ? content : fc.constant(bodiless),
      framing: hasBody
        ? fc.constantFrom<Framing>('length', 'length', 'chunked')
        : fc.constant<Framing>('none'),
      expects: fc.boolean(),
      chunkCuts: cuts,
      packetCuts: cuts,
    });
  });

/** All but 413, after which a conversation is sent again with less in it. */
const statuses = [
  ...[
    '200 OK',
    '200 OK',
    '200 OK',
    '200 ',
    '201 Created',
    '202 Accepted',
    '206 Partial Content',
    '218 This is fine',
  ],
  ...[
    '299 Odd Reason',
    '301 Moved',
    '307 Temporary Redirect',
    '400 Bad Request',
    '401 Unauthorized',
    '403 No',
  ],
  ...['404 Not Found', '409 Conflict', '418 I am a teapot', '422 Unprocessable', '429 Slow down'],
  ...['500 Oops', '502 Bad Gateway', '503 Unavailable', '504 Late', '529 Overloaded', '599 Made up'],
  ...['204 No Content', '304 Not Modified'],
];

const answer = fc.record({
  status: fc.constantFrom(...statuses),
  own: headersFrom(answerNames, 10),
  content,
  framing: fc.constantFrom<Framing>('length', 'chunked', 'chunked', 'close'),
  tellsLength: fc.boolean(),
  trailers: headersFrom(['X-Checksum', 'x-odd-Trailer', 'Server-Timing'], 3),
  interim: fc.array(fc.constantFrom('102 Processing', '103 Early Hints\r\nLink: </style.css>; rel=preload'), {
    maxLength: 2,
  }),
  chunkCuts: cuts,
  packetCuts: cuts,
});

/** Any exchange that a proxy has nothing to do with but to carry it. */
export const generatedExchange: fc.Arbitrary<GeneratedExchange> = fc
  .tuple(request, answer)
  .map(([asked, given]) => ({
    method: asked.method,
    path: asked.path,
    request: {
      status: '',
      headers: [
        ...asked.own,
        ...asked.content.headers,
        ...(asked.expects && asked.framing !== 'none' ? ['Expect', '100-continue'] : []),
      ],
      body: asked.content.body,
      trailers: [],
      framing: asked.framing,
      chunkCuts: asked.chunkCuts,
      packetCuts: asked.packetCuts,
      kind: asked.content.kind,
    },
    answer: { ...withBodyOf(given, asked.method), interim: given.interim },
  }));

function withBodyOf(given: typeof answer extends fc.Arbitrary<infer Value> ? Value : never, method: string) {
  const isBodiless = method === 'HEAD' || /^(?:204|304)/.test(given.status);
  const { body, headers, kind } = isBodiless ? bodiless : given.content;
  const framing: Framing = isBodiless ? 'none' : given.framing;
  const trailers = framing === 'chunked' ? given.trailers : [];
  // Where there is no body, a length is that of the body there would be.
  const mayTellLength = isBodiless && !given.status.startsWith('204') && given.tellsLength;
  const names = trailers.filter((_, index) => index % 2 === 0);
  return {
    status: given.status,
    headers: [
      ...given.own,
      ...headers,
      ...(names.length === 0 ? [] : ['Trailer', names.join(', ')]),
      ...(mayTellLength ? ['Content-Length', '1234'] : []),
    ],
    body,
    trailers,
    framing,
    chunkCuts: given.chunkCuts,
    packetCuts: given.packetCuts,
    kind,
  };
}
