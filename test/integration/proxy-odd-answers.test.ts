import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startProxy } from '../../src/proxy/server.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { listening } from '../support/listening.ts';

const running: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

/** A proxy in front of a server that answers the first bytes of every connection with these. */
async function proxyBefore(answer: Buffer): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.write(answer));
    socket.resume();
  });
  const url = await listening(server);
  running.push({
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  });
  const proxy = await startProxy({
    store: memoryStore(),
    upstreams: [{ url }],
  });
  running.push(proxy);
  return Number(new URL(proxy.url).port);
}

/** A connection whose answers are read as bytes. */
async function connectTo(port: number) {
  const socket = connect(port, '127.0.0.1');
  running.push({ close: () => socket.destroy() });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'connect');
  return {
    write: (part: string) => socket.write(part),
    /** Everything that has come, once it has so many bodies. */
    async bodies(count: number, body: string): Promise<string> {
      while (text.split(`\r\n\r\n${body}`).length <= count) await once(socket, 'data');
      return text;
    },
  };
}

const HOST = 'Host: 127.0.0.1\r\n';

describe('answers that are legal and rare', () => {
  for (const type of ['application/json', 'text/event-stream'])
    it(`passes words behind the status that are no ASCII, byte for byte, with ${type}`, async () => {
      const reason = Buffer.from('请求错误', 'utf8').toString('latin1');
      const answer = `HTTP/1.1 400 ${reason}\r\nContent-Type: ${type}\r\nContent-Length: 2\r\n\r\nno`;
      const client = await connectTo(await proxyBefore(Buffer.from(answer, 'latin1')));
      client.write(`POST /v1/messages HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`);
      expect(await client.bodies(1, 'no')).toContain(`HTTP/1.1 400 ${reason}\r\n`);
    });

  it('takes the next request of a connection after an answer that came before the end of a body', async () => {
    const answer = Buffer.from('HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno');
    const client = await connectTo(await proxyBefore(answer));
    client.write(`POST /v1/files HTTP/1.1\r\n${HOST}Content-Length: 300000\r\n\r\n${'x'.repeat(1000)}`);
    await client.bodies(1, 'no');
    client.write('y'.repeat(299_000));
    client.write(`GET /v1/files HTTP/1.1\r\n${HOST}\r\n`);
    expect(await client.bodies(2, 'no')).toContain('HTTP/1.1 413 Too large');
  });
});
