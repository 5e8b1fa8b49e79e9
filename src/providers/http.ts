import { RoundfoldError } from '../conversation/errors.ts';
import { asList, asString, isObject, type JsonObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import { printable } from '../conversation/printable.ts';
import {
  type AnswerEvent,
  createEventSplitter,
  readAnswerEvents,
  type StreamEvent,
  tryParseJson,
} from './event-stream.ts';

/** What every client over HTTP can be told. */
export interface HttpClientOptions {
  readonly model: string;
  /** Sent as the provider wants it. Default: none, which is what local servers expect. */
  readonly apiKey?: string | undefined;
  /** Where the API lives. Default: the provider's own address. */
  readonly baseUrl?: string | undefined;
  /**
   * Asks for a streamed answer: for long answers, and for proxies that break a connection on which nothing moves. Default
   * false. A stream that nobody asked for is understood as well.
   */
  readonly streams?: boolean | undefined;
  /** Sent with every request; they win over the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds until an answer must have arrived whole. Default 180 000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global `fetch`, looked up with every request. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** How somebody waits for an answer. */
export interface AskOptions {
  readonly signal: AbortSignal | undefined;
  /** Told of the text of a streamed answer while it comes. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** One request of a client. */
export interface JsonPost {
  /** Behind the base URL, with a slash in front. */
  readonly path: string;
  /** What the provider demands, the key included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
  /** Told of every event of a streamed answer while it comes. */
  readonly onEvent?: ((data: JsonObject) => void) | undefined;
}

/** A provider's address and how it is spoken to. */
export interface Endpoint {
  /** For messages: who is asked. */
  readonly provider: string;
  readonly baseUrl: string;
  readonly options: HttpClientOptions;
  /** Makes of a streamed answer, as far as it came, what it would have been in one piece. */
  readonly assemble: (events: readonly AnswerEvent[]) => JsonObject;
}

const DEFAULT_TIMEOUT_MS = 180_000;

/**
 * Sends a JSON body and gives back the parsed answer, whether it came in one piece or as a stream. A stream that breaks
 * off, or takes too long, gives what has arrived, for what was spent until then is spent. Neither a key nor more than a
 * line of what the provider said gets into a message.
 * @throws RoundfoldError `upstream` when the provider cannot be reached, refuses, takes too long or answers with
 *   something that is neither JSON nor a stream of it; its cause is `{ status, body }` as far as there was an answer
 * @throws RoundfoldError `usage` when address or headers cannot be sent
 * @throws the signal's reason when it was aborted
 */
export async function postJson(endpoint: Endpoint, post: JsonPost): Promise<unknown> {
  const { provider, options } = endpoint;
  post.signal?.throwIfAborted();
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = post.signal === undefined ? timeout : AbortSignal.any([post.signal, timeout]);
  const url = toUrl(endpoint, post.path);
  const headers = toHeaders(endpoint, post.headers);
  const secrets = secretsOf(headers);
  try {
    const send = options.fetch ?? globalThis.fetch;
    const body = JSON.stringify(post.body);
    // A redirect would carry the key and the conversation to an address that nobody named.
    const response = await send(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    const { text, brokenBy } = await readBody(response, response.ok ? post.onEvent : undefined);
    post.signal?.throwIfAborted();
    const answer = parseAnswer(endpoint, hideSecrets(text, secrets));
    if (answer === undefined && brokenBy !== undefined) throw brokenBy.error;
    return judge(endpoint, response.status, answer ?? hideSecrets(text, secrets));
  } catch (error) {
    post.signal?.throwIfAborted();
    throw RoundfoldError.is(error)
      ? error
      : failure(error, timeout.aborted ? timeoutMs : undefined, url, provider);
  }
}

function failure(cause: unknown, timeoutMs: number | undefined, url: URL, provider: string): RoundfoldError {
  if (timeoutMs === undefined) {
    return new RoundfoldError('upstream', `${provider} could not be reached at ${url.origin}`, {
      cause,
      remedy: 'Check the base URL and the network.',
    });
  }
  return new RoundfoldError('upstream', `${provider} did not answer within ${timeoutMs} ms`, {
    cause,
    remedy: 'Allow more time, or summarise less at once.',
  });
}

/** The value of an answer; undefined when it is no JSON, and when a stream broke off before its first event. */
function parseAnswer({ assemble }: Endpoint, text: string): unknown {
  const whole = tryParseJson(text);
  if (whole !== undefined) return whole;
  const events = readAnswerEvents(text) ?? [];
  return events.length === 0 ? undefined : assemble(events);
}

function judge({ provider }: Endpoint, status: number, body: unknown): unknown {
  if (status >= 200 && status < 300 && typeof body !== 'string') return body;
  throw upstreamError(provider, status, body);
}

function toUrl({ provider, baseUrl }: Endpoint, path: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new RoundfoldError('usage', `no base URL for ${provider}: ${JSON.stringify(baseUrl)}`, {
      remedy: 'A base URL starts with https:// or http://.',
    });
  }
  const stem = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  url.pathname = `${stem}${path}`;
  return url;
}

function toHeaders({ provider, options }: Endpoint, own: Readonly<Record<string, string>>): Headers {
  const accept = options.streams === true ? 'text/event-stream' : 'application/json';
  const headers = new Headers({ 'content-type': 'application/json', accept });
  for (const [name, value] of [...Object.entries(own), ...Object.entries(options.headers ?? {})]) {
    if (trySet(headers, name, value)) continue;
    throw new RoundfoldError('usage', `the header ${JSON.stringify(name)} for ${provider} cannot be sent`, {
      remedy: 'Look for line breaks and characters outside of Latin-1 in the key or the header.',
    });
  }
  return headers;
}

/** The error that is swallowed here quotes the value, and the value may be the key. */
function trySet(headers: Headers, name: string, value: string): boolean {
  try {
    headers.set(name, value);
    return true;
  } catch {
    return false;
  }
}

/** More than any summary and any error is long, even in small pieces. */
const MAXIMUM_BYTES = 16 * 1024 * 1024;

/** A body as far as it could be read. */
interface ReadBody {
  readonly text: string;
  /** What ended it too early; undefined when it is whole. */
  readonly brokenBy: { readonly error: unknown } | undefined;
}

/**
 * The text of a response, up to 16 MiB, so that a server gone mad cannot fill the memory. Whatever has arrived is given
 * back when the connection breaks.
 * @throws RoundfoldError `upstream` when there is more
 */
async function readBody({ body }: Response, onEvent: JsonPost['onEvent']): Promise<ReadBody> {
  const decoder = new TextDecoder();
  const splitter = createEventSplitter();
  let sizeBytes = 0;
  let text = '';
  try {
    for await (const chunk of body ?? []) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > MAXIMUM_BYTES) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
      if (onEvent !== undefined) tellEvents(splitter.push(chunk), onEvent);
    }
  } catch (error) {
    if (RoundfoldError.is(error)) throw error;
    return { text, brokenBy: { error } };
  }
  return { text: text + decoder.decode(), brokenBy: undefined };
}

function tellEvents(events: readonly StreamEvent[], onEvent: (data: JsonObject) => void): void {
  for (const { data } of events) {
    const value = tryParseJson(data);
    if (isObject(value)) onEvent(value);
  }
}

function tooLarge(): RoundfoldError {
  return new RoundfoldError('upstream', `the answer is larger than ${MAXIMUM_BYTES} bytes`, {
    remedy: 'Check the base URL: is this the API?',
  });
}

const SECRET_HEADER = /authorization|key|token|secret|cookie/i;
/** Shorter values are no keys, and hiding them would only make a message unreadable. */
const SHORTEST_SECRET = 6;

/** The values among these headers that must not be shown, longest first. */
function secretsOf(headers: Headers): readonly string[] {
  const values: string[] = [];
  for (const [name, value] of headers) {
    if (SECRET_HEADER.test(name)) values.push(value, value.slice(value.indexOf(' ') + 1));
  }
  return values
    .filter((value) => value.length >= SHORTEST_SECRET)
    .sort((left, right) => right.length - left.length);
}

/** The text with every secret in it replaced. */
function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text);
}

const MESSAGE_LENGTH = 200;

/** What to do about a status; another one is another row. */
const remedies: ReadonlyMap<number, string> = new Map([
  [400, 'The request does not suit this model or server; the cause holds what the provider said.'],
  [401, 'Check the API key.'],
  [402, 'Check the account: the provider wants to be paid.'],
  [403, 'Check the API key and what it may be used for.'],
  [404, 'Check the name of the model and the base URL.'],
  [413, 'Summarise less at once.'],
  [429, 'Wait, or summarise with another model.'],
]);

const LATER = 'Try again later.';

/**
 * The error for an answer that is none. The provider's own message is quoted up to 200 characters; the cause is
 * `{ status, body }`, from which an overflow can be read, and `usage` when some was reported before it failed.
 */
export function upstreamError(
  provider: string,
  status: number,
  body: unknown,
  usage?: Usage | undefined,
): RoundfoldError {
  const said = printable(messageIn(body).trim(), MESSAGE_LENGTH);
  const isRefusal = status >= 300;
  const what = isRefusal
    ? `${provider} refused with HTTP ${status}`
    : `${provider} gave an answer that is none`;
  return new RoundfoldError('upstream', said === '' ? what : `${what}: ${said}`, {
    cause: usage === undefined ? { status, body } : { status, body, usage },
    remedy: remedies.get(status) ?? (status >= 500 ? LATER : 'Check the base URL: is this the API?'),
  });
}

/** Where providers put their words: `error.message`, `message`, `detail`, `error`, or the plain text of a proxy. */
function messageIn(body: unknown): string {
  if (typeof body === 'string') return body;
  const outer = isObject(body) ? body : asList(body).find(isObject);
  if (outer === undefined) return '';
  const error = outer['error'];
  const candidates = isObject(error) ? [error['message'], error['type']] : [error];
  candidates.push(outer['message'], outer['detail']);
  return candidates.map(asString).find((text) => text !== undefined && text !== '') ?? '';
}
