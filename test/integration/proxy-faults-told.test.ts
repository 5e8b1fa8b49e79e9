import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createObservation } from '../../src/proxy/observe/observation.ts';
import type { ExchangeRecord } from '../../src/proxy/record.ts';
import { type ProxyOptions, type RunningProxy, startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server that takes requests and never answers. */
async function startSilent(): Promise<string> {
  const server = createServer((request) => void request.resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens at a port
}

async function start(url: string, options: Partial<ProxyOptions> = {}) {
  const records: ExchangeRecord[] = [];
  const store = memoryStore();
  const { observer, pages, ledger } = await createObservation({
    store,
    observers: [{ exchange: (record) => records.push(record) }],
  });
  const proxy = await startProxy({ store, observer, pages, upstreams: [{ url }], ...options });
  ends.push(() => proxy.close());
  return { proxy, records, ledger };
}

function ask({ url }: RunningProxy, init: RequestInit = {}): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'claude-sonnet-4-6',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    }),
    ...init,
  });
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const messageOf = async (response: Response) =>
  ((await response.json()) as { readonly error: { readonly message: string } }).error.message;

describe('whoever runs a proxy is told', () => {
  it('which upstream could not be reached, and why', async () => {
    const { proxy, records, ledger } = await start('http://127.0.0.1:1');
    expect((await ask(proxy)).status).toBe(502);
    expect(records).toMatchObject([
      {
        upstream: 'http://127.0.0.1:1',
        httpStatus: undefined,
        fault: expect.stringContaining('ECONNREFUSED') as string,
      },
    ]);
    expect(ledger.health().upstreamFault).toMatch(/^http:\/\/127\.0\.0\.1:1: upstream could not be reached/);
  });

  it('that a client has left, which is no fault of upstream', async () => {
    const { proxy, records, ledger } = await start(await startSilent());
    const leaving = new AbortController();
    const asked = ask(proxy, { signal: leaving.signal }).catch(() => undefined);
    await until(() => ledger.health().activeStreams === 1);
    leaving.abort();
    await asked;
    await until(() => records.length === 1);
    expect(records[0]?.fault).toBeUndefined();
    expect(ledger.health().upstreamFault).toBeUndefined();
  });

  it('which limit a request ran into', async () => {
    const { proxy, ledger } = await start(await startSilent(), { limits: { streams: 1, bodyBytes: 200 } });
    const large = await ask(proxy, { body: 'x'.repeat(300) });
    expect([large.status, await messageOf(large)]).toEqual([
      413,
      expect.stringContaining('raise maxBodyBytes'),
    ]);
    const leaving = new AbortController();
    const first = ask(proxy, { signal: leaving.signal }).catch(() => undefined);
    await until(() => ledger.health().activeStreams === 1);
    const second = await ask(proxy);
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '2']);
    expect(await messageOf(second)).toBe(
      'roundfold: as many requests are under way as maxStreams allows (1); try again in a moment',
    );
    leaving.abort();
    await first;
  });
});
