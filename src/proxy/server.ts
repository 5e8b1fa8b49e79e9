import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { RoundfoldError } from '../conversation/errors.ts';
import { printable } from '../conversation/printable.ts';
import type { ConversationWishes, Store } from '../stores/store.ts';
import { type AccessOptions, createAccessCheck, isLoopback } from './access.ts';
import { clientOf } from './caller.ts';
import { answerRefusal, type Refused, RefusedError } from './errors.ts';
import { createFolder, type FolderOptions } from './fold.ts';
import type { Folder } from './folder.ts';
import { createForwarder, type Forwarder, type ForwardLimits } from './forward.ts';
import type { ProxyObserver } from './record.ts';
import { findRoute } from './routes.ts';
import { createWorkerFolder, type WorkerFolderOptions } from './threads/thread-folder.ts';
import type { UpstreamRule } from './upstreams.ts';

/** Answers requests for pages of the proxy's own; whether it did. */
export type PageHandler = ((
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>) & {
  /** Is called when the proxy ends: answers that never end by themselves have to. */
  close?(): void;
};

/** How a proxy behaves. Only the store is needed. */
export interface ProxyOptions
  extends Omit<AccessOptions, 'host'>,
    Omit<FolderOptions, 'onEvent' | 'onWindowLearnt' | 'knownWindows' | 'now' | 'schedule'> {
  /** Default 127.0.0.1: reachable from this machine only. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Where requests go. Default: to the provider whose format they are in. */
  readonly upstreams?: readonly UpstreamRule[] | undefined;
  /** The tenant of all requests, for a proxy that one person uses: credentials that change do not matter then. */
  readonly tenant?: string | undefined;
  /** A header that names the tenant, instead of the credential. */
  readonly tenantHeader?: string | undefined;
  /**
   * Whether `/responses/compact` and requests that end with a compaction trigger are answered with a memory of our own, for
   * upstreams that know neither. Default: they pass.
   */
  readonly answerCompactions?: boolean | undefined;
  readonly limits?: Partial<ForwardLimits & IntakeLimits> | undefined;
  /** Is told of everything that happens. */
  readonly observer?: ProxyObserver | undefined;
  /** What people have asked for conversations of a tenant in the meantime. Never fails. */
  readonly wishesOf?: ((tenant: string) => Promise<readonly ConversationWishes[]>) | undefined;
  /** Answers below `/roundfold/` and at `/metrics`. */
  readonly pages?: PageHandler | undefined;
  /** Whether `/readyz` says so. Requests are taken in any case. Default: always. */
  readonly isReady?: (() => boolean) | undefined;
  /** Address of the same store, for threads that fold large conversations. Default: everything is done in this thread. */
  readonly threads?: Pick<WorkerFolderOptions, 'address' | 'secret' | 'threads'> | undefined;
}

/** How long a client may take to send a request. */
export interface IntakeLimits {
  /** Until its headers are there. Default 15 seconds. */
  readonly headersMilliseconds: number;
  /** Until all of it is there. Default five minutes. */
  readonly requestMilliseconds: number;
}

/** A running proxy. */
export interface RunningProxy {
  /** Where it listens, without a path: `http://127.0.0.1:8787`. */
  readonly url: string;
  readonly store: Store;
  /** Waits for work in the background. */
  settle(): Promise<void>;
  /** Takes no more requests, waits for those that are under way as long as it is told, and ends. May be called again. */
  close(options?: { readonly drainMilliseconds?: number | undefined }): Promise<void>;
}

/** Milliseconds that slow clients have for their headers, and for all of a request. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 300_000;
const KEEP_ALIVE_MS = 75_000;
/** How often connections are looked at, in parts of the shorter time. */
const LOOKS = 5;
const MOST_HEADER_BYTES = 64 * 1024;
const SWEEP_MS = 100;

/**
 * Starts a proxy.
 * @throws RoundfoldError `usage` when it cannot listen there, or may not
 */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const host = options.host ?? '127.0.0.1';
  const check = createAccessCheck({ ...options, host });
  const folder = folderFor(options);
  const forwarder = createForwarder({
    upstreams: options.upstreams,
    limits: options.limits ?? {},
    // What only observes changes nothing, and answers nothing.
    answersCompactions: options.answerCompactions === true && options.mode !== 'observe',
    exchange: {
      folder,
      observer: options.observer,
      wishesOf: options.wishesOf,
      now: Date.now,
      tenants: { fixed: options.tenant, header: options.tenantHeader, allowsAnonymous: isLoopback(host) },
    },
  });
  const { pages, isReady = () => true } = options;
  const state: State = { check, forwarder, pages, isReady, isClosing: false };
  const tell = (request: IncomingMessage, refused: Refused) =>
    tellRefusal(request, refused, options.observer);
  const server = createServer(
    {
      ...timeoutsOf(options.limits),
      maxHeaderSize: MOST_HEADER_BYTES,
      noDelay: true,
      insecureHTTPParser: false,
    },
    (request, response) => {
      if (state.isClosing) response.shouldKeepAlive = false;
      serve(request, response, state).catch((error: unknown) => answerError(request, response, error, tell));
    },
  );
  server.on('upgrade', (request, socket) => refuseUpgrade(request, socket, tell));
  server.on('connect', (_request, socket) => socket.destroy());
  await listen(server, host, options.port ?? 0);

  const end = async (drainMilliseconds: number): Promise<void> => {
    state.isClosing = true;
    options.pages?.close?.();
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), drainMilliseconds);
    // A connection whose answer has come to its end would be kept for the next request.
    const sweeping = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    await closed;
    clearTimeout(timer);
    clearInterval(sweeping);
    await forwarder.close();
    await folder.close();
  };
  let closing: Promise<void> | undefined;
  return {
    url: urlOf(server),
    store: options.store,
    settle: () => folder.settle(),
    close({ drainMilliseconds = 0 } = {}) {
      closing ??= end(drainMilliseconds);
      return closing;
    },
  };
}

function timeoutsOf({ headersMilliseconds, requestMilliseconds }: NonNullable<ProxyOptions['limits']> = {}) {
  const headersTimeout = headersMilliseconds ?? HEADERS_MS;
  const requestTimeout = Math.max(headersTimeout, requestMilliseconds ?? REQUEST_MS);
  const connectionsCheckingInterval = Math.ceil(headersTimeout / LOOKS);
  return { headersTimeout, requestTimeout, connectionsCheckingInterval, keepAliveTimeout: KEEP_ALIVE_MS };
}

function folderFor(options: ProxyOptions): Folder {
  const { store, mode, windowTokens, windows, trigger, target, strategy, summarizer, archive, hash } =
    options;
  const { observer, threads } = options;
  const plain = { store, mode, windowTokens, windows, trigger, target, archive };
  const told: Pick<FolderOptions, 'onEvent' | 'onWindowLearnt'> = {
    onEvent: (event) => observer?.keeperEvent?.(event),
    onWindowLearnt: (model, tokens) => observer?.windowLearnt?.(model, tokens),
  };
  if (threads === undefined) return createFolder({ ...plain, ...told, strategy, summarizer, hash });
  if (strategy === undefined && summarizer === undefined && hash === undefined)
    return createWorkerFolder({ ...plain, ...told, ...threads });
  throw new RoundfoldError(
    'usage',
    'a strategy, summarizer or hash of your own cannot go to another thread',
    {
      remedy: 'Leave out threads, or those.',
    },
  );
}

interface State {
  readonly check: ReturnType<typeof createAccessCheck>;
  readonly forwarder: Forwarder;
  readonly pages: PageHandler | undefined;
  readonly isReady: () => boolean;
  isClosing: boolean;
}

async function serve(request: IncomingMessage, response: ServerResponse, state: State): Promise<void> {
  const target = request.url ?? '/';
  const [path = '/'] = target.split('?', 1);
  const isHealth = path === '/healthz' || path === '/readyz';
  const isPage = path === '/metrics' || path === '/roundfold' || path.startsWith('/roundfold/');
  const refused = state.check(request, isHealth ? 'health' : isPage ? 'pages' : 'all');
  if (refused !== undefined) throw new RefusedError(refused);
  // The form that requests to a forward proxy have: which host is meant is not for a client to say.
  if (!target.startsWith('/')) throw new RefusedError(NO_PATH);
  if (isHealth) {
    answerHealth(response, path === '/readyz' ? whyNotReady(state) : undefined);
    return;
  }
  if (isPage) {
    if (state.pages !== undefined && (await state.pages(request, response))) return;
    throw new RefusedError(NO_PAGE);
  }
  await state.forwarder.forward(request, response);
}

const NO_PATH: Refused = { status: 400, reason: 'no-path', message: 'the request line names no path' };
const NO_PAGE: Refused = { status: 404, reason: 'no-page', message: 'there is no such page here' };

/** Undefined when nothing is in the way. */
function whyNotReady({ isClosing, isReady }: State): string | undefined {
  if (isClosing) return 'ending';
  return isReady() ? undefined : 'waiting for the store';
}

function answerHealth(response: ServerResponse, why: string | undefined): void {
  response.writeHead(why === undefined ? 200 : 503, {
    'content-type': 'text/plain',
    'cache-control': 'no-store',
  });
  response.end(`${why ?? 'ok'}\n`);
}

type TellRefusal = (request: IncomingMessage, refused: Refused) => void;

function tellRefusal(
  request: IncomingMessage,
  { status, reason }: Refused,
  observer: ProxyObserver | undefined,
): void {
  // The account of its exchange says so.
  if (reason === 'no-answer') return;
  const { kind, format } = findRoute(request.method ?? 'GET', request.url ?? '/');
  const client = clientOf(request.rawHeaders);
  observer?.refused?.({ at: Date.now(), kind, format, client, reason, httpStatus: status });
}

const OUR_FAULT: Refused = {
  status: 500,
  reason: 'internal',
  message: 'something went wrong in the proxy itself; the request was not sent on',
};

function answerError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  tell: TellRefusal,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const refused = error instanceof RefusedError ? error.refused : OUR_FAULT;
  tell(request, refused);
  const { format } = findRoute(request.method ?? 'GET', request.url ?? '/');
  const spoken =
    format ?? (request.headers['anthropic-version'] === undefined ? undefined : 'anthropic-messages');
  const { status, headers, body } = answerRefusal(refused, spoken);
  // What of the body was not read would be taken for the next request.
  const connection: Record<string, string> = request.complete ? {} : { connection: 'close' };
  // Words that could not be written for another status stay with the response.
  response.statusMessage = STATUS_CODES[status] ?? '';
  response.writeHead(status, { ...headers, ...connection, 'content-length': Buffer.byteLength(body) });
  response.end(body);
  if (!request.complete) drain(request);
}

/** A client that is still sending would not read the answer: it may go on for a moment. */
const DRAIN_MS = 2_000;

function drain(request: IncomingMessage): void {
  request.resume();
  const timer = setTimeout(() => request.destroy(), DRAIN_MS);
  request.once('close', () => clearTimeout(timer));
  request.once('error', () => clearTimeout(timer));
}

/** Clients that would rather have a WebSocket fall back to requests with all of the history, which is what we need. */
function refuseUpgrade(request: IncomingMessage, socket: Duplex, tell: TellRefusal): void {
  const refused: Refused = {
    status: 426,
    reason: 'websocket',
    message: 'no WebSocket here; send requests over HTTP',
  };
  tell(request, refused);
  const { headers, body } = answerRefusal(refused, findRoute('POST', request.url ?? '/').format);
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-length': Buffer.byteLength(body),
  });
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 426 Upgrade Required\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new RoundfoldError('usage', `cannot listen at ${printable(host, 80)}, port ${port}: ${reason}`, {
      cause,
      remedy: 'Choose another port, or 0 for any free one.',
    });
  });
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new TypeError('a listening server has an address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
