import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { ChunkSink } from './answer.ts';
import { topLevelString } from './body/body-bytes.ts';
import { decodeBody, decodeChunks } from './body/compression.ts';
import { RefusedError } from './errors.ts';
import { type ExchangeOptions, exchange } from './exchange.ts';
import { answerHeaders, headerOf, pairsOf } from './headers.ts';
import { findRoute, isRead, type Route } from './routes.ts';
import { type Connections, createConnections, type NodeAnswer, ownNodeAnswer } from './upstream.ts';
import { createDirectory, type Destination, type Directory, type UpstreamRule } from './upstreams.ts';

export interface ForwardLimits {
  /** Largest body that is read, compressed and unpacked. Default 64 MiB. */
  readonly bodyBytes: number;
  /** Bytes of bodies that are held at once, in all requests together. Default 512 MiB. */
  readonly heldBytes: number;
  /** Requests that are under way at once. Default 2000. */
  readonly streams: number;
}

const MEBIBYTE = 1024 * 1024;
const defaults: ForwardLimits = { bodyBytes: 64 * MEBIBYTE, heldBytes: 512 * MEBIBYTE, streams: 2000 };

export interface ForwarderOptions {
  readonly upstreams: readonly UpstreamRule[] | undefined;
  readonly limits: Partial<ForwardLimits>;
  /** Whether requests for a compaction are answered with a memory of our own, and go nowhere. */
  readonly answersCompactions: boolean;
  readonly exchange: ExchangeOptions;
}

/** Carries requests to upstream and answers back. */
export interface Forwarder {
  /** @throws RefusedError when the request cannot be sent on; nothing has been answered then */
  forward(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export function createForwarder(all: ForwarderOptions): Forwarder {
  const { upstreams, limits, answersCompactions, exchange: given } = all;
  const directory = createDirectory(upstreams);
  const connections = createConnections();
  const most = { ...defaults, ...limits };
  const options: ExchangeOptions = { ...given, decode: decodeChunks };
  let streams = 0;
  let heldBytes = 0;

  const hold = (bytes: number): void => {
    if (heldBytes + bytes > most.heldBytes)
      throw busy('the bodies of the requests under way fill the memory that they may have');
    heldBytes += bytes;
  };

  return {
    async forward(request, response) {
      if (streams >= most.streams)
        throw busy(`as many requests are under way as maxStreams allows (${most.streams})`);
      streams++;
      given.observer?.streamOpened?.();
      let held = 0;
      try {
        const read = await readRequest(request, answersCompactions, most.bodyBytes, (bytes) => {
          hold(bytes);
          held += bytes;
        });
        await carry({ request, response, ...read }, { directory, connections, options, answersCompactions });
      } finally {
        streams--;
        heldBytes -= held;
        given.observer?.streamClosed?.();
      }
    },
    close: () => connections.close(),
  };
}

function busy(why: string): RefusedError {
  const message = `${why}; try again in a moment`;
  return new RefusedError({ status: 429, reason: 'busy', message, headers: { 'retry-after': '2' } });
}

interface ReadRequest {
  readonly route: Route;
  /** As it came; undefined when it streams through. */
  readonly body: Buffer | undefined;
  /** In plain bytes. */
  readonly text: Uint8Array | undefined;
}

/** Reads the body of a request that may be folded or answered here; every other one streams through. */
async function readRequest(
  request: IncomingMessage,
  answersCompactions: boolean,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<ReadRequest> {
  const route = findRoute(request.method ?? 'GET', request.url ?? '/');
  if (!isRead(route) && !(answersCompactions && route.kind === 'compact'))
    return { route, body: undefined, text: undefined };
  const body = await readBody(request, maxBytes, hold);
  const text = await decodeBody(body, request.headers['content-encoding'], maxBytes);
  if (text === 'too-large') throw new RefusedError(tooLarge(maxBytes));
  if (text === 'unreadable') return { route, body, text: undefined };
  if (text !== body) hold(text.length);
  return { route, body, text };
}

function tooLarge(maxBytes: number) {
  return {
    status: 413,
    reason: 'too-large',
    message: `the body has more than ${maxBytes} bytes; raise maxBodyBytes of the proxy, or send less`,
  } as const;
}

async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new RefusedError(tooLarge(maxBytes));
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer; // no encoding is set, so chunks are bytes
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw new RefusedError(tooLarge(maxBytes));
    hold(bytes.length);
    chunks.push(bytes);
  }
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0];
  const whole = Buffer.concat(chunks, sizeBytes);
  // Their memory is given back at once: waiting for it, the garbage collector would run again after every few large bodies.
  for (const { buffer, length } of chunks)
    if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
  return whole;
}

interface Carried extends ReadRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Means {
  readonly directory: Directory;
  readonly connections: Connections;
  readonly options: ExchangeOptions;
  readonly answersCompactions: boolean;
}

async function carry(
  carried: Carried,
  { directory, connections, options, answersCompactions }: Means,
): Promise<void> {
  const { request, response, route, body, text } = carried;
  const target = request.url ?? '/';
  const headers = request.rawHeaders;
  const left = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) left.abort(new Error('the client has left'));
  });
  const destination = destinationOf(carried, directory);
  const method = request.method ?? 'GET';
  const exchanged = await exchange(
    { route, target, headers, text, signal: left.signal },
    {
      name: destination.origin,
      send: (outgoing) =>
        connections.send(
          { method, ...destination, body: body ?? streamOf(request), signal: left.signal },
          outgoing,
        ),
      own: answersCompactions ? ownNodeAnswer : undefined,
    },
    options,
  );
  try {
    await passOn(exchanged.answer, { ...exchanged, response });
  } catch (error) {
    // Headers that cannot be written, for instance.
    exchanged.answer.discard();
    // biome-ignore lint/style/useErrorCause: the cause is passed, in the second argument
    throw new RefusedError(
      { status: 502, reason: 'no-answer', message: 'the answer of upstream could not be passed on' },
      error,
    );
  } finally {
    // Upstream may answer before it has read all of a body.
    if (!request.complete) request.resume();
    await exchanged.watch.end();
  }
}

function destinationOf({ request, route, text }: Carried, directory: Directory): Destination {
  const target = request.url ?? '/';
  const isAnthropic = headerOf(request.rawHeaders, 'anthropic-version') !== undefined;
  const named = directory.asksForModel && text !== undefined ? topLevelString(text, 'model') : undefined;
  const destination = directory.find(target, route, route.model ?? named, isAnthropic);
  if (destination !== undefined) return destination;
  throw new RefusedError({
    status: 404,
    reason: 'no-upstream',
    message: 'no upstream takes this path and model; add one to the configuration',
  });
}

/**
 * A body that streams through; undefined when there is none. The client for upstream destroys it when the answer comes before
 * its end, and the request must outlive that: what has not been read stands in front of the next one.
 */
function streamOf(request: IncomingMessage): Readable | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return undefined;
  const through = new PassThrough();
  through.on('error', () => undefined);
  return request.pipe(through);
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

/** Passes an answer on as it comes: its bytes, its headers in their order, its trailers, and not faster than it is taken. */
async function passOn(
  answer: NodeAnswer,
  {
    response,
    added,
    watch,
  }: {
    readonly response: ServerResponse;
    readonly added: readonly string[];
    readonly watch: ChunkSink;
  },
): Promise<void> {
  response.sendDate = false;
  const headers = [...answerHeaders(answer.headers), ...added];
  response.writeHead(answer.status, answer.statusText, headers);
  let hasBegun = false;
  // Whoever waits for events wants to know at once that they will come. Mostly the first has come with the headers: one packet.
  // Headers that are sent alone are written in UTF-8, which would change the bytes of others than ASCII: those wait for it.
  const isEvents = headerOf(answer.headers, 'content-type')?.includes('event-stream') === true;
  if (isEvents && [answer.statusText, ...headers].every(isAscii))
    setImmediate(() => {
      if (!hasBegun) response.flushHeaders();
    });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  response.on('drain', () => answer.resume());
  response.once('close', resolve);
  // The client may have left while the answer was on its way.
  if (response.closed) resolve();
  answer.receive({
    data(chunk) {
      hasBegun = true;
      const hasRoom = response.write(chunk);
      watch.push(chunk);
      return hasRoom;
    },
    end(trailers) {
      hasBegun = true;
      if (trailers.length > 0)
        response.addTrailers(pairsOf(trailers).map(([name, value]): [string, string] => [name, value]));
      response.end();
    },
    // An answer that breaks off must not look whole.
    fail: () => response.destroy(),
  });
  await over;
}
