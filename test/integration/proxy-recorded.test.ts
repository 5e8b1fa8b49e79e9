import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { recordedExchanges } from '../support/cassettes.ts';
import { capturedRequests, capturesAreMissing } from '../support/client-captures.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

const recorded = recordedExchanges();
const captured = capturedRequests();
if (recorded.length === 0) console.log('skipped: no recorded exchanges here');
if (captured.length === 0) console.log(`skipped: ${capturesAreMissing}`);

/** Ways to write the same value: no two of them have the same bytes. */
const spellings: readonly ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => ` ${JSON.stringify(value).replaceAll('/', '\\/')}\n`,
];

/** Chosen by the request, so that all of them occur. */
const statuses = [200, 200, 200, 400, 401, 404, 429, 500, 503, 529];

let upstream: RecordingUpstream;
let proxy: RunningProxy;

beforeAll(async () => {
  upstream = await startRecordingUpstream((request, response) => {
    const status = statuses[request.body.length % statuses.length] ?? 200;
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': `req_${request.body.length}`,
    });
    response.end(`{"length":${request.body.length}}`);
  });
  // Every window is known and none is full.
  proxy = await startProxy({
    store: memoryStore(),
    upstreams: [{ url: upstream.url }],
    windowTokens: 10_000_000,
  });
});

afterAll(async () => {
  await proxy.close();
  await upstream.close();
});

async function expectUntouched(path: string, body: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${proxy.url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const arrived = upstream.requests.at(-1)!;
  expect(arrived.body.toString()).toBe(body);
  expect(arrived.target).toBe(path);
  expect(response.status).toBe(statuses[arrived.body.length % statuses.length]);
  expect(await response.text()).toBe(`{"length":${arrived.body.length}}`);
  for (const [name, value] of Object.entries(headers)) expect(arrived.header(name)).toBe(value);
  return response;
}

describe('requests that fit their window', () => {
  it.skipIf(recorded.length === 0)(
    'go on byte for byte: every recorded exchange, in three spellings',
    async () => {
      for (const { url, body } of recorded)
        for (const spell of spellings)
          await expectUntouched(`${url.pathname}${url.search}`, spell(body), { 'x-api-key': 'k' });
      expect(recorded.length).toBeGreaterThan(100);
    },
  );

  it.skipIf(captured.length === 0)(
    'go on byte for byte: everything that real clients sent, headers included',
    async () => {
      // What belongs to a connection, and what the platform's own client would not send.
      const left =
        /^(?:host|connection|content-length|accept-encoding|transfer-encoding|keep-alive|expect|content-type|accept|user-agent)$/;
      for (const { url, headers, body } of captured) {
        const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !left.test(name)));
        for (const spell of spellings) {
          const response = await expectUntouched(url, spell(body), sent);
          const status = response.headers.get('x-roundfold-status');
          const reason = response.headers.get('x-roundfold-reason');
          expect([null, 'unchanged', 'passed']).toContain(status);
          // Never silent.
          expect(status === 'passed').toBe(reason !== null);
        }
      }
      expect(captured.length).toBeGreaterThan(20);
    },
  );
});
