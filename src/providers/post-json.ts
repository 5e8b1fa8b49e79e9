import { RoundfoldError } from '../conversation/errors.ts';
import type { JsonObject } from '../conversation/json.ts';
import { type AnswerEvent, readAnswerEvents } from './answer-events.ts';
import type { HttpClientOptions } from './client-options.ts';
import { readBody } from './read-body.ts';
import { hideSecrets, secretsOf } from './secrets.ts';
import { tryParseJson } from './try-parse-json.ts';
import { upstreamError } from './upstream-error.ts';

/** One request of a client. */
export interface JsonPost {
  /** Behind the base URL, with a slash in front. */
  readonly path: string;
  /** What the provider demands, the key included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
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
    const { text, brokenBy } = await readBody(response);
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
