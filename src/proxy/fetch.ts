/**
 * roundfold/fetch: a `fetch` that keeps long conversations inside their window, for SDKs that take one. Needs no port, no
 * process and no Node.
 * @module
 */
import { memoryStore } from '../stores/memory.ts';
import type { Store } from '../stores/store.ts';
import type { Answer, Outgoing } from './answer.ts';
import { type Exchanged, type ExchangeOptions, exchange } from './exchange.ts';
import { createFolder, type FolderOptions } from './fold.ts';
import { headerOf, pairsOf, type RawHeaders, withoutHeaders } from './headers.ts';
import type { ProxyObserver } from './record.ts';
import { findRoute, isRead, type Route } from './routes.ts';

export type { ExchangeRecord, FoldEvent, ProxyObserver, ProxyPassReason, ReportedUsage } from './record.ts';

export interface RoundfoldFetchOptions
  extends Omit<FolderOptions, 'store' | 'onEvent' | 'onWindowLearnt' | 'knownWindows' | 'now' | 'schedule'> {
  /** Where checkpoints and what left are kept. Default: in memory, as long as the process runs. */
  readonly store?: Store | undefined;
  /** Whose conversations they are. Default: a hash of the credential of each request. */
  readonly tenant?: string | undefined;
  /** Is told of everything that happens. */
  readonly observer?: ProxyObserver | undefined;
}

/** A `fetch` with work in the background. */
export interface RoundfoldFetch {
  (...given: Parameters<typeof globalThis.fetch>): ReturnType<typeof globalThis.fetch>;
  /** Waits for that work: before a process ends, or where one is frozen after its answer. */
  settle(): Promise<void>;
}

/**
 * Wraps a `fetch`: requests to a model's endpoint that would outgrow its window go out folded, and everything else as it
 * is. What was done stands in the `x-roundfold-*` headers of the response.
 * @throws RoundfoldError `usage` for options that cannot be meant
 */
export function withRoundfold(
  send: typeof globalThis.fetch = globalThis.fetch,
  options: RoundfoldFetchOptions = {},
): RoundfoldFetch {
  const { store = memoryStore(), tenant, observer, ...shaping } = options;
  const folder = createFolder({
    ...shaping,
    store,
    onEvent: (event) => observer?.keeperEvent?.(event),
    onWindowLearnt: (model, tokens) => observer?.windowLearnt?.(model, tokens),
  });
  const shared: ExchangeOptions = {
    folder,
    observer,
    now: Date.now,
    tenants: { fixed: tenant, allowsAnonymous: true },
  };
  const wrapped = async (...given: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const asked = await readRequest(given);
    if (asked === undefined) return send(...given);
    const exchanged = await exchange(
      asked,
      {
        name: asked.url.origin,
        send: async (outgoing) => new FetchAnswer(await sendOn(send, asked, outgoing)),
      },
      shared,
    );
    return respond(exchanged);
  };
  return Object.assign(wrapped, { settle: () => folder.settle() });
}

interface Asked {
  readonly given: Parameters<typeof globalThis.fetch>;
  readonly url: URL;
  readonly route: Route;
  readonly target: string;
  readonly headers: RawHeaders;
  readonly text: Uint8Array;
  readonly signal: AbortSignal;
}

/** A request whose body may be folded; undefined for every other, which nobody reads. */
async function readRequest(given: Parameters<typeof globalThis.fetch>): Promise<Asked | undefined> {
  const [input, init = {}] = given;
  const request = input instanceof Request ? input : undefined;
  const address = request?.url ?? String(input);
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const target = `${url.pathname}${url.search}`;
  const route = findRoute((init.method ?? request?.method ?? 'GET').toUpperCase(), target);
  if (!isRead(route)) return undefined;
  const headers = [...new Headers(init.headers ?? request?.headers)].flat();
  // Whoever compresses a body himself is passed as he is.
  if (headerOf(headers, 'content-encoding') !== undefined) return undefined;
  const text = await bytesOf(init.body ?? undefined, request);
  const signal = init.signal ?? request?.signal ?? new AbortController().signal;
  return text === undefined ? undefined : { given, url, route, target, headers, text, signal };
}

const encoder = new TextEncoder();

/** The bytes of a body that can be read more than once; undefined for streams and forms. */
async function bytesOf(body: unknown, request: Request | undefined): Promise<Uint8Array | undefined> {
  if (body === undefined && request !== undefined) return new Uint8Array(await request.clone().arrayBuffer());
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  return body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : undefined;
}

const SET_BY_FETCH = new Set(['content-length']);

function sendOn(
  send: typeof globalThis.fetch,
  { given: [input, init], headers: came }: Asked,
  { headers, body }: Outgoing,
): Promise<Response> {
  // A request that can be sent only once is sent as a copy, since it may be sent again with less in it.
  const again = input instanceof Request ? input.clone() : input;
  if (body === undefined && headers.length === came.length) return send(again, init);
  const left = new Headers(
    pairsOf(withoutHeaders(headers, SET_BY_FETCH)).map(([name, value]) => [name, value]),
  );
  return send(again, {
    ...init,
    headers: left,
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
}

/** Larger refusals are no refusals of length. */
const MOST_PEEKED_CHARACTERS = 1024 * 1024;

/** How long the first word of a stream may be waited for. */
const MOST_EVENT_WAIT_MS = 5_000;

class FetchAnswer implements Answer {
  readonly response: Response;
  readonly headers: RawHeaders;

  constructor(response: Response) {
    this.response = response;
    // A response that came through `fetch` is unpacked already.
    this.headers = withoutHeaders([...response.headers].flat(), new Set(['content-encoding']));
  }

  get status(): number {
    return this.response.status;
  }

  async peek(): Promise<string | undefined> {
    if (Number(this.response.headers.get('content-length') ?? 0) > MOST_PEEKED_CHARACTERS) return undefined;
    return this.response.clone().text();
  }

  async peekEvents(isEnough: (text: string) => boolean): Promise<string | undefined> {
    const reader = this.response.clone().body?.getReader();
    if (reader === undefined) return undefined;
    const decoder = new TextDecoder();
    const deadline = Date.now() + MOST_EVENT_WAIT_MS;
    let text = '';
    while (!isEnough(text) && text.length < MOST_PEEKED_CHARACTERS && Date.now() < deadline) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    // The other half of the copy goes on from the beginning.
    reader.cancel().catch(() => undefined);
    return text;
  }

  discard(): void {
    this.response.body?.cancel().catch(() => undefined);
  }
}

/** The response as it came, with our headers, and watched while it is read. */
function respond({ answer: { response }, added, watch }: Exchanged<FetchAnswer>): Response {
  const { status, statusText, body, url } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of pairsOf(added)) headers.set(name, value);
  if (body === null) {
    void watch.end();
    return named(new Response(null, { status, statusText, headers }), url);
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            watch.push(value);
            controller.enqueue(value);
            return;
          }
          await watch.end();
          controller.close();
        } catch (error) {
          await watch.end();
          controller.error(error);
        }
      },
      async cancel(reason) {
        await reader.cancel(reason);
        await watch.end();
      },
    },
    { highWaterMark: 0 },
  );
  return named(new Response(watched, { status, statusText, headers }), url);
}

/** A response that somebody makes has no address, and clients look for it. */
function named(response: Response, url: string): Response {
  return Object.defineProperty(response, 'url', { value: url });
}
