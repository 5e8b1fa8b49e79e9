import { once } from 'node:events';
import type { Server } from 'node:net';

/** Lets a server listen on a free port of this machine. Its address. */
export async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it has an address');
  return `http://127.0.0.1:${address.port}`;
}
