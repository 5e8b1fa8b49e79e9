import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Agent, buildConnector, type Dispatcher, errors } from 'undici';
import type { Answer, Outgoing } from './answer.ts';
import { decodeBody } from './body/compression.ts';
import { type AnswerReceiver, Flow } from './body/flow.ts';
import { type OwnAnswer, RefusedError } from './errors.ts';
import { headerOf, type RawHeaders } from './headers.ts';

/** An answer whose body comes when somebody takes it. */
export interface NodeAnswer extends Answer {
  readonly statusText: string;
  /** Starts the flow of the body, what was looked at before included. */
  receive(receiver: AnswerReceiver): void;
  /** There is room again. */
  resume(): void;
}

export interface SendOptions {
  readonly method: string;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  /** The body as it came, for requests that get no other. */
  readonly body: Buffer | Readable | undefined;
  readonly signal: AbortSignal;
}

export interface Connections {
  /**
   * Sends a request and gives its answer as soon as its headers are there.
   * @throws RefusedError 502 or 504 when upstream cannot be reached or takes too long
   * @throws the signal's reason when it is aborted
   */
  send(options: SendOptions, outgoing: Outgoing): Promise<NodeAnswer>;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
/** Until the headers of an answer: a model may think for long before it says the first word. */
const FIRST_BYTE_MS = 600_000;
/** Between two chunks of an answer. */
const IDLE_MS = 300_000;
const KEEP_ALIVE_MS = 30_000;
/** Larger refusals are no refusals of length. */
const MOST_PEEKED_BYTES = 1024 * 1024;
/** What a stream has said when it has only begun, and how long its first word may be waited for. */
const MOST_EVENT_BYTES = 256 * 1024;
const MOST_EVENT_WAIT_MS = 5_000;

/** Where undici tells which connection a request has just been written to. */
const SENT_CHANNEL = 'undici:client:sendHeaders';
/** A connection that was closed while a request was on its way to it says so within a round trip. */
const STALE_MS = 2_000;

/**
 * Connections to upstreams. Redirects are not followed: they would carry keys to addresses that nobody named.
 *
 * Servers close connections that are idle, and may do so at the very moment when the next request is on its way. That request
 * was read by nobody, so it is sent once more: where its body is in our hands, no answer has begun, and the connection had
 * carried an answer before. SDKs do the same with every connection error. Whoever lets go of a new connection, or after a
 * while, may have done what was asked and bill it; that is for the client to decide, which gets 502.
 */
export function createConnections(now: () => number = Date.now): Connections {
  /** Bytes that had come over a connection when the newest request was written to it. */
  const receivedBefore = new WeakMap<object, number>();
  /** What broke a connection that had carried an answer, before any byte of the next. */
  const staleErrors = new WeakSet<Error>();
  const onSent = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }; // what undici publishes
    receivedBefore.set(socket, socket.bytesRead);
  };
  subscribe(SENT_CHANNEL, onSent);
  const connect = buildConnector({ timeout: CONNECT_MS });
  const agent = new Agent({
    connect: (options, callback) =>
      connect(options, (...made) => {
        const [, socket] = made;
        socket?.on('error', (error) => {
          if (socket.bytesRead > 0 && receivedBefore.get(socket) === socket.bytesRead) staleErrors.add(error);
        });
        callback(...made);
      }),
    headersTimeout: FIRST_BYTE_MS,
    bodyTimeout: IDLE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 128 * 1024,
  });
  const isStale = ({ cause }: Error, sentAt: number): boolean =>
    cause instanceof Error && staleErrors.has(cause) && now() - sentAt <= STALE_MS;
  const isInHand = ({ body }: SendOptions, outgoing: Outgoing) =>
    outgoing.body !== undefined || body === undefined || Buffer.isBuffer(body);
  return {
    async send(options, outgoing) {
      const sentAt = now();
      try {
        return await send(agent, options, outgoing);
      } catch (error) {
        const isLost = error instanceof RefusedError && isStale(error, sentAt);
        if (!isLost || options.signal.aborted || !isInHand(options, outgoing)) throw error;
        return send(agent, options, outgoing);
      }
    },
    async close() {
      unsubscribe(SENT_CHANNEL, onSent);
      await agent.destroy();
    },
  };
}

const NOT_MODIFIED = 304;

function send(
  agent: Agent,
  { method, origin, path, body, signal }: SendOptions,
  outgoing: Outgoing,
): Promise<NodeAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let flow: Flow | undefined;
    let isWithoutBody = false;
    const abort = () => controller?.abort(abortReason(signal));
    signal.addEventListener('abort', abort, { once: true });
    const over = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    agent.dispatch(
      {
        origin,
        path,
        method: method as Dispatcher.HttpMethod, // whatever a client sends goes on; undici checks that it is a token
        headers: [...outgoing.headers],
        body:
          outgoing.body === undefined
            ? (body ?? null)
            : Buffer.from(outgoing.body.buffer, outgoing.body.byteOffset, outgoing.body.byteLength),
      },
      {
        onRequestStart(started) {
          controller = started;
          if (signal.aborted) abort();
        },
        onResponseStart(started, status, _headers, statusText) {
          // Interim answers are for the connection.
          if (status < 200) return;
          flow = new Flow(started);
          isWithoutBody = status === NOT_MODIFIED;
          resolve(new PausedAnswer(status, reasonPhrase(statusText), rawStrings(started.rawHeaders), flow));
        },
        onResponseData: (_controller, chunk) => flow?.data(chunk),
        onResponseEnd(ended) {
          over();
          flow?.end(rawStrings(ended.rawTrailers));
        },
        onResponseError(_controller, error) {
          over();
          // It tells the length of the body that there would be, and undici misses that body.
          if (isWithoutBody && error instanceof errors.ResponseContentLengthMismatchError) flow?.end([]);
          else flow?.fail(error);
          reject(signal.aborted ? abortReason(signal) : unreachable(error));
        },
      },
    );
  });
}

function abortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error('the request was given up');
}

function unreachable(error: Error): RefusedError {
  const isLate =
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.BodyTimeoutError;
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return new RefusedError(
    isLate
      ? {
          status: 504,
          reason: 'no-answer',
          message: `upstream did not ${error instanceof errors.ConnectTimeoutError ? 'take a connection' : 'answer'} in time${code}; it may be overloaded, or its address wrong`,
        }
      : {
          status: 502,
          reason: 'no-answer',
          message: `upstream could not be reached${code}; check its address and the network`,
        },
    error,
  );
}

/** Headers as text, byte for byte. */
function rawStrings(raw: Dispatcher.DispatchController['rawHeaders']): RawHeaders {
  if (!Array.isArray(raw)) return [];
  return raw.map((item) => (typeof item === 'string' ? item : item.toString('latin1')));
}

/** The words behind a status, byte for byte: undici reads them as UTF-8, and our server writes them as Latin-1. */
function reasonPhrase(statusText = ''): string {
  return Buffer.from(statusText, 'utf8').toString('latin1');
}

/** An answer of our own, all of which is there. */
export function ownNodeAnswer({ status, headers, body }: OwnAnswer): NodeAnswer {
  const bytes = Buffer.from(body);
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    headers: Object.entries({ ...headers, 'content-length': String(bytes.length) }).flat(),
    peek: async () => body,
    peekEvents: async () => body,
    receive(receiver) {
      receiver.data(bytes);
      receiver.end([]);
    },
    resume() {},
    discard() {},
  };
}

class PausedAnswer implements NodeAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: RawHeaders;
  readonly #flow: Flow;
  #peeked: Promise<string | undefined> | undefined;

  constructor(status: number, statusText: string, headers: RawHeaders, flow: Flow) {
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.#flow = flow;
  }

  peek(): Promise<string | undefined> {
    this.#peeked ??= this.#peek();
    return this.#peeked;
  }

  async #peek(): Promise<string | undefined> {
    const whole = await this.#flow.whole(MOST_PEEKED_BYTES);
    if (whole === undefined) return undefined;
    const plain = await decodeBody(whole, headerOf(this.headers, 'content-encoding'), MOST_PEEKED_BYTES);
    return typeof plain === 'string' ? undefined : new TextDecoder().decode(plain);
  }

  async peekEvents(isEnough: (text: string) => boolean): Promise<string | undefined> {
    if (headerOf(this.headers, 'content-encoding') !== undefined) return undefined;
    const held = await this.#flow.until(
      MOST_EVENT_BYTES,
      (bytes) => isEnough(bytes.toString('utf8')),
      MOST_EVENT_WAIT_MS,
    );
    return held.toString('utf8');
  }

  receive(receiver: AnswerReceiver): void {
    this.#flow.receive(receiver);
  }

  resume(): void {
    this.#flow.resume();
  }

  discard(): void {
    this.#flow.discard();
  }
}
