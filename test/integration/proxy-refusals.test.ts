import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createObservation } from '../../src/proxy/observe/observation.ts';
import { refusalWords } from '../../src/proxy/observe/words.ts';
import { type ProxyOptions, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(options: Partial<ProxyOptions> = {}) {
  const lines: string[] = [];
  const store = memoryStore();
  const { observer, pages, ledger } = await createObservation({
    store,
    log: { write: (line) => lines.push(line) },
  });
  const proxy = await startProxy({ store, observer, pages, ...options });
  ends.push(() => proxy.close());
  return { url: proxy.url, lines, ledger };
}

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** With any Host and Upgrade header, which `fetch` does not send. */
async function send(
  url: string,
  { path = '/v1/messages', headers = {}, body = '{}' }: Sent,
): Promise<number> {
  const asked = request(url, { method: 'POST', path, headers });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }]; // an IncomingMessage
  answer.resume();
  return answer.statusCode;
}

const body = (model: string) =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'a-text-of-somebody' }] });

const cases: readonly (readonly [
  reason: string,
  status: number,
  sent: Sent,
  options: Partial<ProxyOptions>,
])[] = [
  ['no-upstream', 404, { body: body('m') }, { upstreams: [{ url: 'http://127.0.0.1:1', model: 'other-*' }] }],
  ['no-token', 401, { headers: { authorization: 'Bearer sk-of-somebody' } }, { token: 'a'.repeat(16) }],
  ['web-page', 403, { headers: { origin: 'https://somebody.example' } }, {}],
  ['too-large', 413, { body: 'x'.repeat(5000) }, { limits: { bodyBytes: 1024 } }],
  ['wrong-host', 421, { headers: { host: 'somebody.example' } }, {}],
  ['websocket', 426, { headers: { connection: 'upgrade', upgrade: 'websocket' } }, {}],
  ['busy', 429, {}, { limits: { streams: 0 } }],
  ['no-page', 404, { path: '/metrics' }, { pages: () => false }],
  [
    'cannot-compact',
    400,
    { path: '/v1/responses/compact', body: '{"input":[]}' },
    { answerCompactions: true },
  ],
  ['no-answer', 502, { body: body('claude-sonnet-4-6') }, { upstreams: [{ url: 'http://127.0.0.1:1' }] }],
];

describe('a request that the proxy refuses', () => {
  it.each(cases)(
    'is counted once, told in one line of the log and shown: %s',
    async (reason, status, sent, options) => {
      const { url, lines, ledger } = await start(options);
      expect(await send(url, sent)).toBe(status);

      const counted = ledger.metrics().find(({ name }) => name === 'roundfold_requests_total')?.samples;
      expect(counted).toHaveLength(1);
      expect(counted?.[0]).toMatchObject({ labels: { status: 'refused', reason }, value: 1 });
      expect(ledger.health().refused).toMatchObject([{ reason, count: 1 }]);
      expect(lines).toHaveLength(1);
      // The line of an exchange has the cause instead.
      const told =
        reason === 'no-answer' ? { event: 'exchange' } : { event: 'refused', reason, http: status };
      expect(JSON.parse(lines[0] ?? '')).toMatchObject(told);
      expect(lines[0]).not.toContain('somebody');
    },
  );

  it('has one of the reasons that the guide lists', () => {
    const guide = readFileSync('docs/dashboard.md', 'utf8');
    for (const reason of Object.keys(refusalWords)) expect(guide).toContain(`\`${reason}\``);
  });

  it('is none where upstream has refused it', async () => {
    const upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    });
    ends.push(() => upstream.close());
    const { url, ledger } = await start({ upstreams: [{ url: upstream.url }] });
    expect(await send(url, { body: body('claude-sonnet-4-6') })).toBe(404);
    expect(ledger.health()).toMatchObject({ refused: [], upstreamErrors: 1 });
  });
});
