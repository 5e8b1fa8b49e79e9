import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { RoundfoldError } from '../conversation/errors.ts';
import { readBody } from './body.ts';
import { createCacheLedger } from './cache-ledger.ts';
import { type Chunking, type Delivery, deliver } from './delivery.ts';
import type { Fault } from './faults.ts';
import type { TokenCounter } from './prompt.ts';
import { createRouter, type Router } from './routes.ts';
import { defaultScript, type Script } from './script.ts';
import { createIds, createNumbers } from './seeded.ts';

/** How the simulated provider behaves. Everything is optional. */
export interface SimulatorOptions {
  /** Window of every model, prompt and output together. Default: each model's own. */
  readonly windowTokens?: number | undefined;
  /** Counts the prompt of a request body. Default: the built-in estimate for the model. */
  readonly countTokens?: TokenCounter | undefined;
  /** What the model says. Default: a deterministic agent that calls the offered tools in turn and ends. */
  readonly script?: Script | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** Default `whole`. */
  readonly chunking?: Chunking | undefined;
  /**
   * Whether reasoning items of the Responses API are refused when they come back without their id. Default false: clients
   * leave it out, and the content tells whose it is. Another id than its own is refused in any case.
   */
  readonly needsReasoningIds?: boolean | undefined;
  /** Milliseconds; moves the lifetimes of cached prefixes. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Makes ids, seals and hostile chunks; the same seed gives the same answers. Default 1. */
  readonly seed?: number | undefined;
  /** Default 127.0.0.1: reachable from this machine only. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Is told of every request as soon as it has been judged. */
  readonly onRequest?: ((request: RecordedRequest) => void) | undefined;
}

/** A running provider. */
export interface Simulator {
  /** Where it listens, without a path: `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The newest requests, oldest first: at most 1,000. */
  readonly requests: readonly RecordedRequest[];
  /** Breaks all connections and ends. May be called again. */
  close(): Promise<void>;
}

const timeouts = { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 5_000 } as const;
/** A connection on which nothing moves for so long is broken: as long as clients wait for an answer. */
const idleTimeoutMs = 600_000;
const maxHeaderBytes = 64 * 1024;

/**
 * Starts a strict provider on this machine: it accepts and refuses what the real ones do, in their words, and speaks
 * Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini.
 * @throws RoundfoldError `usage` when it cannot listen at that host and port
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { seed = 1, now = Date.now, script = defaultScript, faults = [], chunking = 'whole' } = options;
  const route = createRouter(
    {
      now,
      ids: createIds(seed),
      secret: `simulator ${seed}`,
      needsReasoningIds: options.needsReasoningIds ?? false,
      cache: createCacheLedger(now),
    },
    { script, faults, chunking, windowTokens: options.windowTokens, countTokens: options.countTokens },
  );
  const recorder = createRecorder();
  const closing = new AbortController();
  const numbers = createNumbers(seed);
  const record = (request: RecordedRequest, sizeBytes: number): void => {
    recorder.add(request, sizeBytes);
    options.onRequest?.(request);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const delivery = await judge(request, route, record);
    await deliver(response, delivery, numbers, closing.signal);
  };
  const server = createServer(
    { ...timeouts, maxHeaderSize: maxHeaderBytes, noDelay: true },
    (request, response) => {
      // Whoever goes away in the middle of a request or an answer gets nothing more.
      serve(request, response).catch(() => response.destroy());
    },
  );
  server.setTimeout(idleTimeoutMs);
  await listen(server, options.host ?? '127.0.0.1', options.port ?? 0);

  return {
    url: urlOf(server),
    requests: recorder.requests,
    async close() {
      closing.abort();
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Answers a request, and tells what there is to keep of it. */
async function judge(
  request: IncomingMessage,
  route: Router,
  record: (request: RecordedRequest, sizeBytes: number) => void,
): Promise<Delivery> {
  const headers = singleHeaders(request);
  const body = await readBody(request, headers['content-encoding']);
  const method = request.method ?? 'GET';
  const [path = '/', ...rest] = (request.url ?? '/').split('?');
  const query = new URLSearchParams(rest.join('?'));
  const {
    delivery,
    parsedBody,
    format,
    model,
    promptTokens,
    outputTokens,
    rule,
    faults = [],
  } = route({
    method,
    path,
    query,
    headers,
    body,
  });
  const recorded: RecordedRequest = {
    method,
    path,
    status: delivery.status,
    format,
    model,
    isStreamed: delivery.events !== undefined,
    promptTokens,
    outputTokens,
    rule,
    faults,
    headers: withoutSecrets(headers),
    body: parsedBody,
  };
  record(recorded, parsedBody === undefined || typeof body === 'string' ? 0 : body.length);
  return delivery;
}

function singleHeaders({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening').catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new RoundfoldError('usage', `cannot listen at ${host}, port ${port}: ${reason}`, {
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

/** A request as the simulator keeps it. Keys and cookies are never part of it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Wire format of the endpoint; undefined for paths that are no model's. */
  readonly format: string | undefined;
  readonly model: string | undefined;
  readonly isStreamed: boolean;
  /** Tokens of the prompt; undefined when the request was refused before it was counted. */
  readonly promptTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The contract's rule that was broken, e.g. `tool-call-without-result`. */
  readonly rule: string | undefined;
  /** Names of the faults that struck it. */
  readonly faults: readonly string[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed body; undefined when there was none, it was no JSON, or newer requests needed its room. */
  readonly body: unknown;
}

const maxRequests = 1000;
const maxKeptBytes = 64 * 1024 * 1024;

/** Keeps 1,000 requests, and bodies of 64 MiB together: older ones lose theirs. */
function createRecorder() {
  const requests: RecordedRequest[] = [];
  const sizes: number[] = [];
  return {
    requests,
    add(request: RecordedRequest, sizeBytes: number): void {
      if (requests.push(request) > maxRequests) requests.shift();
      if (sizes.push(sizeBytes) > maxRequests) sizes.shift();
      let keptBytes = sizeBytes;
      for (let index = requests.length - 2; index >= 0; index--) {
        keptBytes += sizes[index] ?? 0;
        const older = requests[index];
        if (keptBytes <= maxKeptBytes || older === undefined || sizes[index] === 0) continue;
        requests[index] = { ...older, body: undefined };
        sizes[index] = 0;
      }
    },
  };
}

const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
]);

/** Headers that may be kept. */
function withoutSecrets(
  headers: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.has(name)));
}
