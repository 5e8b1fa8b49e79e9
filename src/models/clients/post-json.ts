import { RoundfoldError } from '../../core/errors.ts';
import type { HttpClientOptions } from './client-options.ts';
import { readBody } from './read-body.ts';
import { hideSecrets, secretsOf } from './secrets.ts';
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
}

const DEFAULT_TIMEOUT_MS = 180_000;

/**
 * Sends a JSON body and gives back the parsed answer. Neither a key nor more than a line of what the provider said
 * gets into a message.
 * @throws RoundfoldError `upstream` when the provider cannot be reached, refuses, takes too long or answers with
 *   something that is no JSON; its cause is `{ status, body }` as far as there was an answer
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
    const text = hideSecrets(await readBody(response), secrets);
    return judge(endpoint, response.status, text);
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

function judge({ provider }: Endpoint, status: number, text: string): unknown {
  const body = tryParse(text);
  if (status >= 200 && status < 300 && body !== undefined) return body;
  throw upstreamError(provider, status, body ?? text);
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
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
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

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
