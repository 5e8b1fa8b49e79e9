import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Script, startSimulator } from '../../src/simulator/index.ts';

/** A request as it came over the wire. */
export interface SeenRequest {
  readonly body: {
    readonly model: string;
    readonly system?: unknown;
    readonly tools?: unknown;
    readonly cache_control?: unknown;
    readonly messages: readonly unknown[];
  };
  readonly status: number;
}

/** A strict provider behind a door at which every request is counted, and can be made to wait. */
export interface RecordingProvider {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Most requests that were ever under way at once. */
  readonly mostAtOnce: number;
  /** Forgets what came so far. */
  forget(): void;
  /** The next request for such a model waits at the door. */
  hold(model: string): { readonly arrived: Promise<void>; release(): void };
  close(): Promise<void>;
}

/** Starts the simulator with a door in front. */
export async function startRecordingProvider(script: Script): Promise<RecordingProvider> {
  const simulator = await startSimulator({ chunking: 'whole', script });
  const requests: SeenRequest[] = [];
  let underWay = 0;
  let mostAtOnce = 0;
  let held: { readonly model: string; arrive(): void; readonly released: Promise<void> } | undefined;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const sent = await text(request);
    const body = JSON.parse(sent) as SeenRequest['body'];
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    try {
      if (held !== undefined && body.model.includes(held.model)) {
        const { arrive, released } = held;
        held = undefined;
        arrive();
        await released;
      }
      const answer = await fetch(`${simulator.url}${request.url}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': String(request.headers['x-api-key']),
          authorization: String(request.headers['authorization']),
          'anthropic-version': String(request.headers['anthropic-version']),
        },
        body: sent,
      });
      requests.push({ body, status: answer.status });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    } finally {
      underWay--;
    }
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    forget() {
      requests.length = 0;
      mostAtOnce = 0;
    },
    hold(model) {
      const arrival = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      held = { model, arrive: arrival.resolve, released: release.promise };
      return { arrived: arrival.promise, release: release.resolve };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await simulator.close();
    },
  };
}
