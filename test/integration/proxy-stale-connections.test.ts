import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startProxy } from '../../src/proxy/server.ts';
import { createConnections } from '../../src/proxy/upstream.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { listening } from '../support/listening.ts';

const running: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

const behaviours = {
  answer: (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  end: (socket: Socket) => socket.end(),
  reset: (socket: Socket) => socket.resetAndDestroy(),
  'half a head': (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'begin and end': (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok'),
};
type Behaviour = keyof typeof behaviours;

/**
 * A server that treats every request of a connection as it is told, by the number of the connection and of the request on it,
 * both from 1.
 */
async function serverThat(behave: (connection: number, request: number) => Behaviour) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    let requests = 0;
    let text = '';
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      // Every request of this test ends with this word.
      if (!text.endsWith('over') && !text.endsWith('over\r\n0\r\n\r\n')) return;
      text = '';
      const behaviour = behave(connection, ++requests);
      asked.push(`${connection}.${requests} ${behaviour}`);
      behaviours[behaviour](socket);
    });
  });
  const url = await listening(server);
  running.push({
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  });
  return { url, asked };
}

async function proxyFor(url: string) {
  const proxy = await startProxy({ store: memoryStore(), upstreams: [{ url }] });
  running.push(proxy);
  return async (path = '/v1/messages') => {
    const response = await fetch(`${proxy.url}${path}`, { method: 'POST', body: 'over' });
    return [response.status, await response.text().catch(() => 'broken off')];
  };
}

/** The second request on a connection finds it closed. */
const stale =
  (how: Behaviour) =>
  (_connection: number, request: number): Behaviour =>
    request === 1 ? 'answer' : how;

describe('a connection that upstream closes while a request is on its way', () => {
  it.each(['end', 'reset'] as const)('is no failure: the request is sent once more (%s)', async (how) => {
    const { url, asked } = await serverThat(stale(how));
    const ask = await proxyFor(url);
    expect(await ask()).toEqual([200, 'ok']);
    expect(await ask()).toEqual([200, 'ok']);
    expect(asked).toEqual(['1.1 answer', `1.2 ${how}`, '2.1 answer']);
  });

  it('is a failure where the second try fails as well: there is no third', async () => {
    const { url, asked } = await serverThat((connection, request) =>
      connection === 1 && request === 1 ? 'answer' : 'end',
    );
    const ask = await proxyFor(url);
    await ask();
    expect((await ask())[0]).toBe(502);
    expect(asked).toEqual(['1.1 answer', '1.2 end', '2.1 end']);
  });

  it('is a failure for a body that has streamed through and is gone', async () => {
    const { url, asked } = await serverThat(stale('end'));
    const ask = await proxyFor(url);
    await ask();
    expect((await ask('/v1/files'))[0]).toBe(502);
    expect(asked).toEqual(['1.1 answer', '1.2 end']);
  });

  it.each(['end', 'reset'] as const)('is a failure where the connection is new (%s)', async (how) => {
    const { url, asked } = await serverThat(() => how);
    const ask = await proxyFor(url);
    expect((await ask())[0]).toBe(502);
    expect(asked).toEqual([`1.1 ${how}`]);
  });

  it.each([stale('half a head'), () => 'half a head' as const])(
    'is a failure where some of an answer had come, however little (%#)',
    async (behave) => {
      const { url, asked } = await serverThat(behave);
      const ask = await proxyFor(url);
      const [first] = await ask();
      const last = first === 502 ? first : (await ask())[0];
      expect(last).toBe(502);
      expect(asked.filter((each) => each.endsWith('half a head')).length).toBe(1);
      expect(asked.length).toBe(first === 502 ? 1 : 2);
    },
  );

  it('is a broken answer once the answer has begun, and nothing is sent again', async () => {
    const { url, asked } = await serverThat(stale('begin and end'));
    const ask = await proxyFor(url);
    await ask();
    expect(await ask()).toEqual([200, 'broken off']);
    expect(asked).toEqual(['1.1 answer', '1.2 begin and end']);
  });

  it('is a failure where upstream let go only after a while: it may have done what was asked', async () => {
    const { url, asked } = await serverThat(stale('end'));
    let clock = 0;
    const connections = createConnections(() => {
      clock += 60_000;
      return clock;
    });
    running.push({ close: () => connections.close() });
    const { signal } = new AbortController();
    const send = () =>
      connections.send(
        { method: 'POST', origin: url, path: '/v1/messages', body: Buffer.from('over'), signal },
        { headers: [], body: undefined },
      );
    const first = await send();
    await new Promise<void>((resolve, reject) =>
      first.receive({ data: () => true, end: () => resolve(), fail: reject }),
    );
    // The connection is free again when the loop has gone round.
    await wait(50);
    await expect(send()).rejects.toMatchObject({ refused: { status: 502 } });
    expect(asked).toEqual(['1.1 answer', '1.2 end']);
  });
});
