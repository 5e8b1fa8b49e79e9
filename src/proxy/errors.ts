import type { RefusalReason } from './record.ts';
import type { Route } from './routes.ts';

/** Why the proxy itself refuses a request. */
export interface Refused {
  readonly status: 400 | 401 | 403 | 404 | 413 | 415 | 421 | 426 | 429 | 431 | 500 | 502 | 503 | 504;
  /** The same for programs. */
  readonly reason: RefusalReason;
  /** What is wrong and what to do about it, for people. Never holds content, credentials or addresses of upstreams. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer of the proxy's own. */
export interface OwnAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What each status is called: by Anthropic, by OpenAI and by Google. */
const names: ReadonlyMap<number, readonly [anthropic: string, openai: string, google: string]> = new Map([
  [400, ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT']],
  [401, ['authentication_error', 'authentication_error', 'UNAUTHENTICATED']],
  [403, ['permission_error', 'permission_error', 'PERMISSION_DENIED']],
  [404, ['not_found_error', 'invalid_request_error', 'NOT_FOUND']],
  [413, ['request_too_large', 'invalid_request_error', 'INVALID_ARGUMENT']],
  [415, ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT']],
  [421, ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT']],
  [426, ['invalid_request_error', 'invalid_request_error', 'FAILED_PRECONDITION']],
  [429, ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED']],
  [504, ['timeout_error', 'server_error', 'DEADLINE_EXCEEDED']],
]);
const SERVER_ERROR = ['api_error', 'server_error', 'UNAVAILABLE'] as const;

/** A refusal in the words of the route's wire format; in OpenAI's, which most others speak as well, for every other route. */
export function answerRefusal(
  { status, message, headers = {} }: Refused,
  format: Route['format'],
): OwnAnswer {
  const [anthropic, openai, google] = names.get(status) ?? SERVER_ERROR;
  const text = `roundfold: ${message}`;
  const bodies: Readonly<Record<string, unknown>> = {
    'anthropic-messages': { type: 'error', error: { type: anthropic, message: text } },
    gemini: { error: { code: status, message: text, status: google } },
  };
  const body =
    format !== undefined && Object.hasOwn(bodies, format)
      ? bodies[format]
      : { error: { message: text, type: openai, param: null, code: codeOf(status) } };
  // A client that tries a hopeless request ten times more helps nobody.
  const retry: Readonly<Record<string, string>> =
    status < 500 && status !== 429 ? { 'x-should-retry': 'false' } : {};
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...retry, ...headers },
    body: JSON.stringify(body),
  };
}

function codeOf(status: number): string {
  return status >= 500 ? 'upstream_unavailable' : 'refused_by_roundfold';
}

/** Is thrown where a request ends with a refusal of our own. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly refused: Refused;

  constructor(refused: Refused, cause?: unknown) {
    super(refused.message, cause === undefined ? undefined : { cause });
    this.refused = refused;
  }
}
