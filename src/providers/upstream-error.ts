import { RoundfoldError } from '../conversation/errors.ts';
import { asList, asString, isObject } from '../conversation/json.ts';
import type { Usage } from '../conversation/message.ts';
import { printable } from '../conversation/printable.ts';

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
