import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { capturedRequests, capturesAreMissing } from '../support/client-captures.ts';
import { corpusIsMissing } from '../support/corpus.ts';
import { type GeneratedExchange, generatedExchange } from '../support/generated-exchanges.ts';
import {
  createRawClient,
  cutUp,
  headerValue,
  type RawClient,
  type RawMessage,
  type RawUpstream,
  startRawUpstream,
  writeMessage,
} from '../support/raw-http.ts';

/** Exchanges to generate: `ROUNDFOLD_EXCHANGES=5000 npx vitest run test/integration/proxy-exchanges.test.ts`. */
const EXCHANGES = Number(process.env['ROUNDFOLD_EXCHANGES'] ?? 400);
const TIMEOUT_MS = 60_000 + EXCHANGES * 100;

const recorded = recordedExchanges();
const captured = capturedRequests();
if (recorded.length === 0) console.log(`skipped: ${corpusIsMissing}`);
if (captured.length === 0) console.log(`skipped: ${capturesAreMissing}`);

let upstream: RawUpstream;
let proxy: RunningProxy;
let client: RawClient;

beforeAll(async () => {
  upstream = await startRawUpstream();
  // Every window is known and none is full.
  const windowTokens = 100_000_000;
  proxy = await startProxy({ store: memoryStore(), upstreams: [{ url: upstream.url }], windowTokens });
  client = createRawClient(proxy.url);
});

afterAll(async () => {
  client.close();
  await proxy.close();
  await upstream.close();
});

interface Carried {
  readonly sent: RawMessage;
  readonly arrived: RawMessage | undefined;
  readonly answered: RawMessage;
  readonly received: RawMessage;
}

/** Carries an exchange over two connections by hand, with the proxy in between. */
async function carry({ method, path, request, answer }: GeneratedExchange): Promise<Carried> {
  const host = ['Host', new URL(proxy.url).host];
  const sent = { ...request, start: `${method} ${path} HTTP/1.1`, headers: [...host, ...request.headers] };
  const answered = { ...answer, start: `HTTP/1.1 ${answer.status}` };
  const interim = answer.interim.map((each) => `HTTP/1.1 ${each}\r\n\r\n`).join('');
  const answerBytes = writeMessage(answered, answer.framing, answer.chunkCuts);
  upstream.answerWith(
    cutUp(Buffer.concat([Buffer.from(interim), answerBytes]), answer.packetCuts),
    answer.framing === 'close',
  );
  const requestBytes = writeMessage(sent, request.framing, request.chunkCuts);
  const received = await client.ask(cutUp(requestBytes, request.packetCuts), method);
  return { sent, arrived: upstream.arrived(), answered, received };
}

/** What belongs to one connection: how it is kept, how long a body is, and whom it leads to. */
const OF_CONNECTION = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect'],
]);

function lasting(headers: readonly string[]): readonly string[] {
  return headers.filter((_, index) => {
    const name = headers[index - (index % 2)]?.toLowerCase() ?? '';
    return !OF_CONNECTION.has(name) && !name.startsWith('x-roundfold-');
  });
}

function expectSame(before: RawMessage, after: RawMessage | undefined): void {
  expect(after?.start).toBe(before.start);
  expect(lasting(after?.headers ?? [])).toEqual(lasting(before.headers));
  expect(after?.body.equals(before.body), `${after?.body.length} bytes of ${before.body.length}`).toBe(true);
  expect(after?.trailers).toEqual(before.trailers);
  // A length that was told is told again, and none is made up but the true one.
  const told = headerValue(before.headers, 'content-length') ?? `${before.body.length}`;
  expect(headerValue(after?.headers ?? [], 'content-length') ?? told).toBe(told);
}

/**
 * The reason behind a status says nothing to programs, and undici keeps the last piece of it where it comes in several. An
 * answer whose first line is cut is compared without it.
 */
function cutsReason({ start }: RawMessage, { answer }: GeneratedExchange): boolean {
  const before = answer.interim.reduce((sum, each) => sum + `HTTP/1.1 ${each}\r\n\r\n`.length, 0);
  return answer.packetCuts.some((cut) => cut > before && cut < before + start.length + 2);
}

function withoutReason(message: RawMessage): RawMessage {
  return { ...message, start: message.start.slice(0, 'HTTP/1.1 200'.length) };
}

/** Carries an exchange, and expects what left one side on the other. */
async function expectUntouched(exchange: GeneratedExchange): Promise<RawMessage> {
  const { sent, arrived, answered, received } = await carry(exchange);
  expectSame(sent, arrived);
  const isCut = cutsReason(answered, exchange);
  expectSame(isCut ? withoutReason(answered) : answered, isCut ? withoutReason(received) : received);
  return received;
}

/** Ways to write the same value: no two of them have the same bytes. */
const spellings: readonly ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => ` ${JSON.stringify(value).replaceAll('/', '\\/')}\n`,
];

/** What the recorder has undone, and what our own writing says by itself. */
const UNDONE = new Set([...OF_CONNECTION, 'content-encoding', 'accept-encoding']);

const flat = (headers: Readonly<Record<string, readonly string[] | string>>): readonly string[] =>
  Object.entries(headers)
    .filter(([name]) => !UNDONE.has(name.toLowerCase()))
    .flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));

const whole = { trailers: [], chunkCuts: [], packetCuts: [], kind: '' } as const;

/** An exchange that was recorded: each event of a stream comes in pieces of one byte. */
function replay(
  { path, headers, body }: { path: string; headers: readonly string[]; body: string },
  answer: { status: string; headers: readonly string[]; body: string },
): GeneratedExchange {
  const answered = Buffer.from(answer.body);
  const isStream = answer.body.startsWith('event:') || answer.body.startsWith('data:');
  const everyByte = Array.from({ length: Math.min(answered.length, MOST_PIECES) }, (_, index) => index + 1);
  return {
    method: 'POST',
    path,
    request: { ...whole, status: '', headers, body: Buffer.from(body), framing: 'length' },
    answer: {
      ...whole,
      status: answer.status,
      headers: answer.headers,
      body: answered,
      framing: isStream ? 'chunked' : 'length',
      chunkCuts: isStream ? everyByte : [],
      interim: [],
    },
  };
}

const MOST_PIECES = 5000;

describe('an exchange in which nothing is folded', () => {
  it(
    `is the same on both sides of the proxy, byte for byte and in both directions: ${EXCHANGES} generated ones`,
    async () => {
      const kinds = new Map<string, number>();
      const count = (kind: string) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      await fc.assert(
        fc.asyncProperty(generatedExchange, async (exchange) => {
          await expectUntouched(exchange);
          const { request, answer } = exchange;
          count(`request ${request.kind}`);
          count(`request ${request.framing}`);
          count(`answer ${answer.kind}`);
          count(`answer ${answer.framing}`);
          count(`answer ${answer.status[0]}xx`);
          if (answer.interim.length > 0) count('interim');
          if (answer.trailers.length > 0) count('trailers');
        }),
        { numRuns: EXCHANGES, seed: 20_261_118, endOnFailure: true },
      );
      console.log(
        `${EXCHANGES} exchanges over ${client.connections()} connections: ${JSON.stringify(Object.fromEntries([...kinds].sort()))}`,
      );

      // Every kind was there.
      const missing = [
        ...[
          'conversation',
          'json',
          'events',
          'error',
          'half',
          'compressed',
          'empty',
          'binary',
          'long',
        ].flatMap((kind) => [`request ${kind}`, `answer ${kind}`]),
        ...['length', 'chunked', 'none'].flatMap((framing) => [`request ${framing}`, `answer ${framing}`]),
        ...['answer close', 'answer 2xx', 'answer 3xx', 'answer 4xx', 'answer 5xx', 'interim', 'trailers'],
      ].filter((kind) => !kinds.has(kind));
      expect(missing).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it.skipIf(recorded.length === 0)(
    'is the same on both sides of the proxy: every recorded one, in three spellings, with the answer it got',
    async () => {
      let count = 0;
      for (const { url, body, requestHeaders, status, answer } of recorded)
        for (const spell of spellings) {
          const path = `${url.pathname}${url.search}`;
          const headers = [...flat(requestHeaders), 'x-api-key', 'k'];
          const given = { status: `${status} Recorded`, headers: flat(answer.headers), body: answer.body };
          await expectUntouched(replay({ path, headers, body: spell(body) }, given));
          count++;
        }
      console.log(`${count} recorded exchanges`);
      expect(count).toBeGreaterThan(300);
    },
    TIMEOUT_MS,
  );

  it.skipIf(captured.length === 0)(
    'is the same on both sides of the proxy: all that real clients sent, whatever it is answered with',
    async () => {
      let count = 0;
      for (const [index, { url, headers, body }] of captured.entries())
        for (const spell of spellings) {
          const status = ANSWERS[(index + count) % ANSWERS.length] ?? '200 OK';
          const given = { status, headers: ['Content-Type', 'application/json'], body: '{"some":"answer"}' };
          const received = await expectUntouched(
            replay({ path: url, headers: flat(headers), body: spell(body) }, given),
          );
          const told = (name: string) => received.headers[received.headers.indexOf(name) + 1];
          const isPassed = told('x-roundfold-status') === 'passed';
          // Never silent.
          expect(isPassed).toBe(received.headers.includes('x-roundfold-reason'));
          count++;
        }
      console.log(`${count} captured requests`);
      expect(count).toBeGreaterThan(60);
    },
    TIMEOUT_MS,
  );
});

const ANSWERS = [
  '200 OK',
  '400 Bad Request',
  '401 Unauthorized',
  '429 Slow down',
  '500 Oops',
  '529 Overloaded',
];
